// SPDX-License-Identifier: Apache-2.0
// The held-out sequences of a round, for everyone that evaluates a merged model. The round's beacon draws
// them. It is opened after the slots are sealed, so that nobody can train towards them.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/hash.hpp"

namespace assay::program {

/// The numbers of the sequences over which a round's merged loss is the mean, ascending. There are
/// min(kHeldOutSequences, available) of them; each set of that size is equally likely. Without replacement
/// (R. W. Floyd): for j = available - count … available - 1, t = floor(h_j · (j + 1) / 2^64) with h_j the
/// first eight bytes, little-endian, of H("assay/held-out/v1", beacon ‖ u64 j); t is added, or j if t is in
/// the set already.
std::vector<std::uint64_t> drawn_held_out(const base::Hash256& beacon, std::uint64_t available);

}  // namespace assay::program
