// SPDX-License-Identifier: Apache-2.0
// Launches the device's work on whole arrays: leaves and levels of roots, updates as whole numbers, merges.
// Also gathers the numbers that the host looks at after a step.
#pragma once

#include <span>
#include <vector>

#include "trainer/cuda/kernels/gather.hpp"
#include "trainer/cuda/kernels/hashes.hpp"
#include "trainer/cuda/kernels/round.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Hashes a matrix's tiles into digests of four numbers each.
void hash_tiles(LaunchStream stream, const TileHashArgs<float>& args);
void hash_tiles(LaunchStream stream, const TileHashArgs<std::int64_t>& args);

void hash_tiles(LaunchStream stream, const TilesHashArgs& args);

/// For trees over `leaves[i]` leaves each, at least one: for every level, from the leaves to the roots, where
/// each tree's digests begin, and then the end of the last tree's.
std::vector<std::vector<std::uint32_t>> tree_levels(std::span<const std::uint64_t> leaves);

/// Computes the roots of trees whose leaf digests lie one after another in `digests`, which it overwrites.
/// `other` is scratch for as many digests as the first level above the leaves has. `levels` are
/// tree_levels(); `table` is the same numbers on the card. Returns the one of the two arrays that holds the
/// roots, at its front.
const std::uint64_t* hash_trees(LaunchStream stream, const std::vector<std::vector<std::uint32_t>>& levels,
                                const std::uint32_t* table, OutputArray<std::uint64_t> digests,
                                OutputArray<std::uint64_t> other, const HashPersonal& personal);

void gather(LaunchStream stream, const GatherArgs& args);
void finalise(LaunchStream stream, const FinaliseArgs& args);
void merge(LaunchStream stream, const MergeArgs& args);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
