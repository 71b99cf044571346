// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/check.hpp"
#include "trainer/cuda/launch/products.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
// Fewer tiles than this leave much of a large card idle.
constexpr std::uint64_t kEnoughTiles = 96;

std::uint64_t tiles(const ProductF32Args& args, unsigned side, unsigned matrices) {
    return std::uint64_t{(args.m + side - 1) / side} * ((args.n + side - 1) / side) * matrices;
}

template <class Kernel>
void start(LaunchStream stream, const ProductF32Args& args, unsigned matrices) {
    launch<Kernel>(Kernel::grid(args, matrices), stream, args);
}

template <Mask kMask>
void choose(LaunchStream stream, const ProductF32Args& args, unsigned matrices) {
    // Sums over tokens under the mask have a head's columns: no more than a small tile has.
    if constexpr (kMask == Mask::kNone || kMask == Mask::kLower) {
        if (tiles(args, 128, matrices) >= kEnoughTiles)
            return start<ProductF32<128, 128, 8, kMask>>(stream, args, matrices);
    }
    if (tiles(args, 64, matrices) >= kEnoughTiles) {
        start<ProductF32<64, 64, 4, kMask>>(stream, args, matrices);
    } else {
        start<ProductF32<32, 32, 4, kMask>>(stream, args, matrices);
    }
}
}  // namespace

void product_f32(LaunchStream stream, const ProductF32Args& args, Mask mask, unsigned matrices) {
    if (args.m == 0 || args.n == 0 || matrices == 0) return;
    // The kernel knows no other stride of outputs, and would write them elsewhere without a word.
    ASSAY_CHECK(args.to.col_stride == 1);
    switch (mask) {
        case Mask::kNone: return choose<Mask::kNone>(stream, args, matrices);
        case Mask::kLower: return choose<Mask::kLower>(stream, args, matrices);
        case Mask::kUpTo: return choose<Mask::kUpTo>(stream, args, matrices);
        case Mask::kFromOn: return choose<Mask::kFromOn>(stream, args, matrices);
    }
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
