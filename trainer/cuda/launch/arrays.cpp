// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/launch/arrays.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
template <class Kernel>
void start(LaunchStream stream, const typename Kernel::Args& args) {
    launch<Kernel>(Kernel::grid(args), stream, args);
}
}  // namespace

void hash_tiles(LaunchStream stream, const TileHashArgs<float>& args) {
    if (args.rows * args.cols != 0) start<TileHash<float>>(stream, args);
}

void hash_tiles(LaunchStream stream, const TileHashArgs<std::int64_t>& args) {
    if (args.rows * args.cols != 0) start<TileHash<std::int64_t>>(stream, args);
}

void hash_tiles(LaunchStream stream, const TilesHashArgs& args) {
    if (args.leaves != 0) start<TilesHash>(stream, args);
}

std::vector<std::vector<std::uint32_t>> tree_levels(std::span<const std::uint64_t> leaves) {
    std::vector<std::vector<std::uint32_t>> levels;
    std::vector<std::uint64_t> counts(leaves.begin(), leaves.end());
    bool more = true;
    while (more) {
        std::vector<std::uint32_t> first{0};
        more = false;
        for (std::uint64_t& count : counts) {
            first.push_back(first.back() + static_cast<std::uint32_t>(count));
            more = more || count > 1;
            count = (count + 1) / 2;
        }
        levels.push_back(std::move(first));
    }
    return levels;
}

const std::uint64_t* hash_trees(LaunchStream stream, const std::vector<std::vector<std::uint32_t>>& levels,
                                const std::uint32_t* table, OutputArray<std::uint64_t> digests,
                                OutputArray<std::uint64_t> other, const HashPersonal& personal) {
    for (std::size_t level = 1; level < levels.size(); ++level) {
        const std::size_t size = levels[level].size();
        TreeLevelArgs args{.below = table + (level - 1) * size,
                           .above = table + level * size,
                           .trees = static_cast<unsigned>(size - 1),
                           .count = levels[level].back(),
                           .digests = digests.data,
                           .personal = personal,
                           .out = other};
        args.out.count = 4 * args.count;
        start<TreeLevel>(stream, args);
        const OutputArray<std::uint64_t> done = other;
        other = digests;
        digests = done;
    }
    return digests.data;
}

void gather(LaunchStream stream, const GatherArgs& args) { launch<Gather>({}, stream, args); }

void finalise(LaunchStream stream, const FinaliseArgs& args) {
    if (args.count != 0) start<Finalise<>>(stream, args);
}

void merge(LaunchStream stream, const MergeArgs& args) {
    if (args.count != 0) start<MergeUpdates<>>(stream, args);
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
