// SPDX-License-Identifier: Apache-2.0
// The index of settled claims by the height at which their windows end, for the rules. The beginning of a
// block reads only the claims whose windows end then, however many rounds of the job have open ones. One
// entry of the deadlines covers all of one job and height. Internal to the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes window_end_key(const ClaimId& id, std::uint64_t height);
/// The claim that a key of the index names; nothing when it is no such key. Sets `height` to the end of its
/// window.
std::optional<ClaimId> claim_of_window_end(ByteView key, std::uint64_t& height);

/// Claims of a job whose windows end at this height, ascending by round, kind and number.
std::vector<ClaimId> list_window_ends(const StateView& state, const Hash256& job, std::uint64_t height);
/// Reads one entry.
bool has_window_end(const StateView& state, const Hash256& job, std::uint64_t height);

void note_window_end(State& state, const ClaimId& id, std::uint64_t height);
/// Removes the entry, and the height from the job's deadlines when no other window ends then. Does nothing if
/// there is no entry: the height passed while the claim waited for a game.
void forget_window_end(State& state, const ClaimId& id, std::uint64_t height);

}  // namespace assay::contracts
