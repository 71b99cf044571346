// SPDX-License-Identifier: Apache-2.0
// The keys and readers of open claims, for rules and readers of the state. A job may have open claims of
// thousands of rounds, so each reader states what it walks, and walks nothing else.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes claim_key(const ClaimId& id);
/// The claim that a key of the table names; nothing when it is no such key.
std::optional<ClaimId> claim_of(ByteView key);

std::optional<Claim> read_claim(const StateView& state, const ClaimId& id);
/// All open claims of a job, ascending by key. Use it only if all are needed: there may be many rounds.
std::vector<std::pair<ClaimId, Claim>> list_claims(const StateView& state, const Hash256& job);
/// The open claims of one round.
std::vector<std::pair<ClaimId, Claim>> list_claims(const StateView& state, const Hash256& job,
                                                   std::uint32_t round);
/// Reads one entry.
bool has_open_claim(const StateView& state, const Hash256& job);
bool has_open_claim(const StateView& state, const Hash256& job, std::uint32_t round);
/// The first round that has an open claim. Reads one entry.
std::optional<std::uint32_t> first_open_round(const StateView& state, const Hash256& job);
/// The rounds that have an open claim, ascending. Reads one entry for each.
std::vector<std::uint32_t> list_open_rounds(const StateView& state, const Hash256& job);

/// A key of the index of open claims by claimant.
Bytes claim_of_key(const PublicKey& node, const ClaimId& id);
/// The claim that a key of this index names; nothing when it is no such key. Sets `node` to the claimant.
std::optional<ClaimId> claim_in_index(ByteView key, PublicKey& node);
/// Visits a node's open claims of one kind in a job, ascending by round and number, until `visit` returns
/// false.
void for_each_claim_of(const StateView& state, const Hash256& job, const PublicKey& node, ClaimKind kind,
                       const std::function<bool(const ClaimId&)>& visit);

/// A key of the index of games by the open claim that they are about; dispute/tables.hpp reads the games.
Bytes game_about_key(const ClaimId& id, std::uint32_t game);
/// The numbers of the games about an open claim, ascending; none for a closed claim.
std::vector<std::uint32_t> list_game_numbers(const StateView& state, const ClaimId& id);
/// The numbers of the games about all open claims of a job, ascending.
std::vector<std::uint32_t> list_game_numbers(const StateView& state, const Hash256& job);
/// The claim that a key of this index names; nothing when it is no such key. Sets `game` to the game's
/// number.
std::optional<ClaimId> claim_of_game_about(ByteView key, std::uint32_t& game);

}  // namespace assay::contracts
