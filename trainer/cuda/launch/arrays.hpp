// SPDX-License-Identifier: Apache-2.0
// Gives the device its work on whole arrays: leaves and levels of roots, updates as whole numbers, merges;
// and what the host looks at after a step.
#pragma once

#include "trainer/cuda/kernels/gather.hpp"
#include "trainer/cuda/kernels/hashes.hpp"
#include "trainer/cuda/kernels/round.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Digests of a matrix's tiles, four numbers each.
void hash_tiles(LaunchStream stream, const TileHashArgs<float>& args);
void hash_tiles(LaunchStream stream, const TileHashArgs<std::int64_t>& args);

/// The root over `count` >= 1 digests, which are overwritten; `other` is scratch of half of them, rounded up.
/// Returns which of the two holds it, at its front.
const std::uint64_t* hash_tree(LaunchStream stream, std::uint64_t count, OutputArray<std::uint64_t> digests,
                               OutputArray<std::uint64_t> other, const HashPersonal& personal);

void gather(LaunchStream stream, const GatherArgs& args);
void finalise(LaunchStream stream, const FinaliseArgs& args);
void merge(LaunchStream stream, const MergeArgs& args);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
