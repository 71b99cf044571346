// SPDX-License-Identifier: Apache-2.0
// Gives the rules the index of when the windows of settled claims end: a block's beginning reads the claims
// whose windows end then, and no others, however many rounds of the job have open ones. An entry of the
// deadlines stands for all of one job and height. Internal to the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes window_end_key(const ClaimId& id, std::uint64_t height);
/// The claim of a key of the index, and its height; nothing when it is none.
std::optional<ClaimId> claim_of_window_end(ByteView key, std::uint64_t& height);

/// Claims of a job whose windows end at this height, ascending by round, kind and number.
std::vector<ClaimId> list_window_ends(const StateView& state, const Hash256& job, std::uint64_t height);
/// Reads one entry.
bool has_window_end(const StateView& state, const Hash256& job, std::uint64_t height);

void note_window_end(State& state, const ClaimId& id, std::uint64_t height);
/// Takes the height out of the job's deadlines, too, when no other window ends then. Does nothing where it
/// was not noted: the height has passed while the claim waited for a game.
void forget_window_end(State& state, const ClaimId& id, std::uint64_t height);

}  // namespace assay::contracts
