// SPDX-License-Identifier: Apache-2.0
// Gives rules and readers of the state the keys and readers of games.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/dispute/records.hpp"
#include "contracts/rules/state/reasons.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes game_key(const Hash256& job, std::uint32_t number);
Bytes game_pieces_key(const Hash256& job, std::uint32_t number);
/// Of a game that its claimant has not ended: by when it was opened.
Bytes open_game_key(const PublicKey& claimant, std::uint64_t opened_at, const Hash256& job,
                    std::uint32_t number);

/// Whole, with what was posted while it runs.
std::optional<Game> read_game(const StateView& state, const Hash256& job, std::uint32_t number);
std::optional<GamePieces> read_game_pieces(const StateView& state, const Hash256& job, std::uint32_t number);
/// All games of a job, ascending, without what was posted. Only where all of them are needed.
std::vector<Game> list_games(const StateView& state, const Hash256& job);
/// Those about one open claim, ended or not, in the same way; none of a closed one.
std::vector<Game> list_games_about(const StateView& state, const ClaimId& id);
/// Those about any open claim of a job: every one that is open, and every one that a call can be about.
std::vector<Game> list_games_about_open_claims(const StateView& state, const Hash256& job);

/// Why its loser lost a game that has ended; kNone: nobody did.
Reason reason_of(const Game& game);

/// The name of an open game.
struct OpenGame {
    Hash256 job;
    std::uint32_t number = 0;
};
/// Those of a claimant, in the order in which they were opened.
std::vector<OpenGame> list_open_games(const StateView& state, const PublicKey& claimant);

/// What is disputed, from what the ledger holds of the claim. Nothing: no such unit, none that has anything
/// to dispute, or none that the referee can judge (has_referee). REQUIRES an open claim of a settled round.
std::optional<dispute::UnitClaim> unit_claim(const StateView& state, const ClaimId& id,
                                             dispute::UnitKind unit, std::uint32_t part);
/// The same whether the referee can judge it or not: for games that end without it.
std::optional<dispute::UnitClaim> described_unit(const StateView& state, const ClaimId& id,
                                                 dispute::UnitKind unit, std::uint32_t part);

}  // namespace assay::contracts
