// SPDX-License-Identifier: Apache-2.0
// The keys and readers of games, for rules and readers of the state.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/dispute/records.hpp"
#include "contracts/rules/state/reasons.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes game_key(const Hash256& job, std::uint32_t number);
Bytes game_pieces_key(const Hash256& job, std::uint32_t number);

/// The whole game; while it runs, with what was posted.
std::optional<Game> read_game(const StateView& state, const Hash256& job, std::uint32_t number);
std::optional<GamePieces> read_game_pieces(const StateView& state, const Hash256& job, std::uint32_t number);
/// All games of a job, ascending, without what was posted. Use it only if all of them are needed.
std::vector<Game> list_games(const StateView& state, const Hash256& job);
/// The games about one open claim, ended or not, ascending, without what was posted; none for a closed claim.
std::vector<Game> list_games_about(const StateView& state, const ClaimId& id);
/// The games about any open claim of a job. They include every open game and every game that a call can be
/// about.
std::vector<Game> list_games_about_open_claims(const StateView& state, const Hash256& job);

/// Why the loser of an ended game lost it; kNone when nobody did.
Reason reason_of(const Game& game);

Bytes played_games_key(const PublicKey& claimant);
/// The games that a claimant plays: those of its open ones that wait for nobody, at most kGamesAtOnce. Where
/// there is none, none waits either.
std::vector<PlayedGame> list_played_games(const StateView& state, const PublicKey& claimant);

/// The disputed unit, from what the ledger holds of the claim. Nothing when the claim has no such unit, when
/// the unit has nothing to dispute, or when the referee cannot judge it (has_referee). REQUIRES an open claim
/// of a settled round.
std::optional<dispute::UnitClaim> unit_claim(const StateView& state, const ClaimId& id,
                                             dispute::UnitKind unit, std::uint32_t part);
/// Whether unit_claim() has a result.
bool has_unit(const StateView& state, const ClaimId& id, dispute::UnitKind unit, std::uint32_t part);
/// As unit_claim(), whether or not the referee can judge it: for games that end as they are opened.
std::optional<dispute::UnitClaim> unjudged_unit(const StateView& state, const ClaimId& id,
                                                dispute::UnitKind unit, std::uint32_t part);

}  // namespace assay::contracts
