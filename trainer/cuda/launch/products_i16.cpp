// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/kernels/product_i16_wide.hpp"
#include "trainer/cuda/launch/products.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
template <class Kernel, class Args>
void start(LaunchStream stream, const Args& args, unsigned matrices) {
    launch<Kernel>(Kernel::grid(args, matrices), stream, args);
}

// Fewer tiles than this leave more of a large card idle than the wide kernel is quicker.
constexpr std::uint64_t kEnoughTiles = 32;

template <class Kernel>
bool fills(const ProductI16Args& args, unsigned matrices) {
    const Grid grid = Kernel::grid(args, matrices);
    return std::uint64_t{grid.x} * grid.y * grid.z >= kEnoughTiles;
}

template <Mask kMask, unsigned kPlanes>
void choose_pack(LaunchStream stream, const PackArgs& args, unsigned matrices) {
    constexpr unsigned kShort = 256;  // numbers of a block that a few warps read at a time
    const bool across = args.from.place.row_stride == 1 && args.from.place.col_stride != 1;
    if (!across) {
        const unsigned length = args.place.length(0);
        if (length <= 128) return start<Pack<kMask, kPlanes, 1>>(stream, args, matrices);
        if constexpr (kMask == Mask::kNone) {
            if (length > 1024 && length <= 3072)
                return start<Pack<kMask, kPlanes, 24>>(stream, args, matrices);
        }
        return start<Pack<kMask, kPlanes, 8>>(stream, args, matrices);
    }
    if (args.place.block <= kShort) return start<PackAcross<kMask, kPlanes, 4>>(stream, args, matrices);
    start<PackAcross<kMask, kPlanes, 16>>(stream, args, matrices);
}

template <unsigned kPlanesA, Mask kMask>
void choose(LaunchStream stream, const ProductI16Args& args, unsigned matrices) {
    if constexpr (kMask == Mask::kNone || kMask == Mask::kLower) {
        using Wide = ProductI16Wide<kPlanesA, kPlanesA == 3 ? 96 : 128, kMask>;
        if (args.a.place.depth != 0 && args.to.col_stride == 1 && fills<Wide>(args, matrices) && has_wgmma())
            return start<Wide>(stream, args, matrices);
    }
    if (args.a.place.lines <= 32 || args.b.place.lines <= 32) {
        start<ProductI16<1, 1, kPlanesA, kMask>>(stream, args, matrices);
    } else {
        start<ProductI16<2, 2, kPlanesA, kMask>>(stream, args, matrices);
    }
}
}  // namespace

void pack_i16(LaunchStream stream, const PackArgs& args, Mask mask, unsigned matrices) {
    if (args.place.lines == 0 || args.place.depth == 0 || matrices == 0) return;
    // Only the gradient of the logits has three digits, and no mask.
    if (args.place.planes == 3) return choose_pack<Mask::kNone, 3>(stream, args, matrices);
    switch (mask) {
        case Mask::kUpTo: return choose_pack<Mask::kUpTo, 2>(stream, args, matrices);
        case Mask::kFromOn: return choose_pack<Mask::kFromOn, 2>(stream, args, matrices);
        case Mask::kNone:
        case Mask::kLower: return choose_pack<Mask::kNone, 2>(stream, args, matrices);
    }
}

void product_i16(LaunchStream stream, const ProductI16Args& args, Mask mask, unsigned matrices) {
    if (args.a.place.lines == 0 || args.b.place.lines == 0 || matrices == 0) return;
    if (args.a.place.planes == 3) return choose<3, Mask::kNone>(stream, args, matrices);
    switch (mask) {
        case Mask::kNone: return choose<2, Mask::kNone>(stream, args, matrices);
        case Mask::kLower: return choose<2, Mask::kLower>(stream, args, matrices);
        case Mask::kUpTo: return choose<2, Mask::kUpTo>(stream, args, matrices);
        case Mask::kFromOn: return choose<2, Mask::kFromOn>(stream, args, matrices);
    }
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
