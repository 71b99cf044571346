// SPDX-License-Identifier: Apache-2.0
// Gives whoever evaluates a merged model the held-out sequences of a round: drawn by the round's beacon,
// which is opened after the slots are sealed, so that nobody can train towards them.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/hash.hpp"

namespace assay::program {

/// Numbers of the sequences over which the merged loss of a round is a mean, ascending:
/// min(kHeldOutSequences, available) of them, each set of so many equally likely. Without replacement (R. W.
/// Floyd): for j = available - count … available - 1, t = floor(h_j · (j + 1) / 2^64) with h_j the first
/// eight bytes, little-endian, of H("assay/held-out/v1", beacon ‖ u64 j); t goes in, or j where t is in
/// already.
std::vector<std::uint64_t> drawn_held_out(const base::Hash256& beacon, std::uint64_t available);

}  // namespace assay::program
