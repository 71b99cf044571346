// SPDX-License-Identifier: Apache-2.0
// Gives the device its work on whole arrays: leaves and levels of roots, updates as whole numbers, merges;
// and what the host looks at after a step.
#pragma once

#include <span>
#include <vector>

#include "trainer/cuda/kernels/gather.hpp"
#include "trainer/cuda/kernels/hashes.hpp"
#include "trainer/cuda/kernels/round.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Digests of a matrix's tiles, four numbers each.
void hash_tiles(LaunchStream stream, const TileHashArgs<float>& args);
void hash_tiles(LaunchStream stream, const TileHashArgs<std::int64_t>& args);

void hash_tiles(LaunchStream stream, const TilesHashArgs& args);

/// Of trees over so many leaves each, at least one: of every level, from the leaves to the roots, where each
/// tree's digests begin, and behind the last tree's last.
std::vector<std::vector<std::uint32_t>> tree_levels(std::span<const std::uint64_t> leaves);

/// The roots of trees whose digests lie one after another, and are overwritten; `other` is scratch of
/// as many as the first level above leaves has. `levels` are tree_levels, `table` the same numbers on the
/// card. Returns which of the two holds the roots, at its front.
const std::uint64_t* hash_trees(LaunchStream stream, const std::vector<std::vector<std::uint32_t>>& levels,
                                const std::uint32_t* table, OutputArray<std::uint64_t> digests,
                                OutputArray<std::uint64_t> other, const HashPersonal& personal);

void gather(LaunchStream stream, const GatherArgs& args);
void finalise(LaunchStream stream, const FinaliseArgs& args);
void merge(LaunchStream stream, const MergeArgs& args);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
