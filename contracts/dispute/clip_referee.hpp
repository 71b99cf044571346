// SPDX-License-Identifier: Apache-2.0
// The referee of a clip: the factor by which a merge scales down a slot's update whose norm is beyond the
// job's bound (update_clip.hpp). The sum of squares is over all tiles of the update, tensor after tensor. A
// partial holds it after every 64 tiles, and the last partial is the clip.
#pragma once

#include "contracts/dispute/referee.hpp"

namespace assay::dispute {

/// The number of tiles whose squares one partial adds.
inline constexpr std::uint64_t kTermTiles = 64;

/// The update's root is the first of FixedHashes::arrays.
struct ClipFacts {
    const std::vector<program::TensorInfo>* tensors = nullptr;
    int sum_exponent = 0;
    float bound = 0;
};

/// The number of partials: the sums, and the clip. REQUIRES at least one number.
std::uint64_t partial_count(const ClipFacts& facts);
/// Like judge() of a step (referee.hpp); the claimed clip is one integer.
GameVerdict judge(const ClipFacts& facts, std::uint64_t partial, const FixedHashes& fixed,
                  base::ByteView witness);
base::Bytes make_witness(const ClipFacts& facts, std::uint64_t partial, StepMemory& memory,
                         const std::vector<Cells>& partials, const StoredTree& tree);
std::vector<Cells> compute_partials(const ClipFacts& facts, StepMemory& memory);

}  // namespace assay::dispute
