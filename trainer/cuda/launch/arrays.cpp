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

const std::uint64_t* hash_tree(LaunchStream stream, std::uint64_t count, OutputArray<std::uint64_t> digests,
                               OutputArray<std::uint64_t> other, const HashPersonal& personal) {
    while (count > 1) {
        start<TreeLevel>(stream, {count, digests.data, personal, other});
        const OutputArray<std::uint64_t> done = other;
        other = digests;
        digests = done;
        count = (count + 1) / 2;
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
