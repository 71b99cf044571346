// SPDX-License-Identifier: Apache-2.0
// Gives rules and readers of the state the keys and readers of open claims. A job may have open claims of
// thousands of rounds: each reader says what it walks, and walks nothing else.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes claim_key(const ClaimId& id);
/// The claim of a key of the table; nothing when it is none.
std::optional<ClaimId> claim_of(ByteView key);

std::optional<Claim> read_claim(const StateView& state, const ClaimId& id);
/// All open claims of a job, ascending by key. Only where all of them are needed: there may be many rounds.
std::vector<std::pair<ClaimId, Claim>> list_claims(const StateView& state, const Hash256& job);
/// Those of one round.
std::vector<std::pair<ClaimId, Claim>> list_claims(const StateView& state, const Hash256& job,
                                                   std::uint32_t round);
/// Reads one entry.
bool has_open_claim(const StateView& state, const Hash256& job);
bool has_open_claim(const StateView& state, const Hash256& job, std::uint32_t round);
/// The first round that has one. Reads one entry.
std::optional<std::uint32_t> first_open_round(const StateView& state, const Hash256& job);
/// Rounds that have one, ascending. Reads one entry of each.
std::vector<std::uint32_t> list_open_rounds(const StateView& state, const Hash256& job);

/// The index of open claims by who claims.
Bytes claim_of_key(const PublicKey& node, const ClaimId& id);
/// The claim that an entry of it names; nothing when it is none. `node`: whose it is.
std::optional<ClaimId> claim_in_index(ByteView key, PublicKey& node);
/// Sees the open claims of one kind of a node in a job, ascending by round and number; returns false to end
/// the walk.
void for_each_claim_of(const StateView& state, const Hash256& job, const PublicKey& node, ClaimKind kind,
                       const std::function<bool(const ClaimId&)>& visit);

/// The index of games by the open claim that they are about; dispute/tables.hpp reads the games.
Bytes game_about_key(const ClaimId& id, std::uint32_t game);
/// Numbers of the games about an open claim, ascending; none of a closed one.
std::vector<std::uint32_t> list_game_numbers(const StateView& state, const ClaimId& id);
/// The same of all open claims of a job, ascending.
std::vector<std::uint32_t> list_game_numbers(const StateView& state, const Hash256& job);
/// The claim that an entry of the index is of; nothing when it is none. `game`: its number.
std::optional<ClaimId> claim_of_game_about(ByteView key, std::uint32_t& game);

}  // namespace assay::contracts
