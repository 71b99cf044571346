// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/check.hpp"
#include "trainer/cuda/kernels/pack_held_i16.hpp"
#include "trainer/cuda/kernels/product_i16_wide.hpp"
#include "trainer/cuda/launch/products.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
template <class Kernel, class Args>
void start(LaunchStream stream, const Args& args, unsigned matrices) {
    launch<Kernel>(Kernel::grid(args, matrices), stream, args);
}

// Large tiles are used if at least a quarter of the card's multiprocessors get one. With fewer, idle
// multiprocessors cost more than large tiles save.
bool fills(std::uint64_t blocks, unsigned processors) { return blocks >= processors / 4; }

// Of the tiles that suit operands of A with so many planes.
template <unsigned kPlanesA, Mask kMask = Mask::kNone, WideBlocks kKind = WideBlocks::kSeveral>
using Wide = ProductI16Wide<kPlanesA, kPlanesA == 3 ? 96 : 128, kMask, kKind>;

// A multiprocessor computes one tile at a time, as split_k() plans.
static_assert(Wide<2>::kBlocks == 1 && Wide<3>::kBlocks == 1);

bool can_be_wide(const ProductI16Args& args, const Processors& processors) {
    constexpr std::uint64_t kMostLineWords = std::uint64_t{1} << 25U;  // PieceCopies
    return processors.count != 0 && args.a.place.depth != 0 && args.to.col_stride == 1 &&
           args.a.place.line_words() < kMostLineWords && args.b.place.line_words() < kMostLineWords;
}

TileCounts tile_counts(const ProductI16Args& args) {
    return args.a.place.planes == 3 ? Wide<3>::counts(args) : Wide<2>::counts(args);
}

template <class Kernel>
void start_wide(LaunchStream stream, const ProductI16Args& args, unsigned matrices,
                const Processors& processors) {
    launch<Kernel>(Kernel::grid(args, matrices, processors.count), stream, args);
}

template <unsigned kPlanesA>
void start_cut(LaunchStream stream, const ProductI16Args& args) {
    start<Wide<kPlanesA, Mask::kNone, WideBlocks::kCut>>(stream, args, 1);
    using Add = AddPartsI16<kPlanesA, kPlanesA == 3 ? 96 : 128>;
    launch<Add>(Add::grid(args), stream, args);
}

// Of an operand whose lines lie side by side, without a mask.
template <unsigned kPlanes>
void choose_pack_across(LaunchStream stream, const PackArgs& args, unsigned matrices) {
    constexpr unsigned kShort = 128;        // numbers that a warp holds of sixteen lines
    constexpr std::uint64_t kEnough = 256;  // blocks that keep a large card busy
    const unsigned length = args.place.length(0);
    if (!can_take_fours(args)) {
        if (length <= 2 * kShort) return start<PackAcross<Mask::kNone, kPlanes>>(stream, args, matrices);
        return start<PackAcrossHeld<kPlanes, 16, 8, false>>(stream, args, matrices);
    }
    if (length <= kShort) return start<PackAcrossHeld<kPlanes, 16, 1, true>>(stream, args, matrices);
    if (length > 1024) return start<PackAcrossHeld<kPlanes, 8, 16, true>>(stream, args, matrices);
    const std::uint64_t blocks = std::uint64_t{args.place.lines} / 16 * args.place.blocks() * matrices;
    if (blocks < kEnough) return start<PackAcrossHeld<kPlanes, 8, 4, true>>(stream, args, matrices);
    start<PackAcrossHeld<kPlanes, 16, 8, true>>(stream, args, matrices);
}

template <Mask kMask, unsigned kPlanes>
void choose_pack(LaunchStream stream, const PackArgs& args, unsigned matrices) {
    const bool across = args.from.place.row_stride == 1 && args.from.place.col_stride != 1;
    if (across) {
        if constexpr (kMask == Mask::kNone) return choose_pack_across<kPlanes>(stream, args, matrices);
        return start<PackAcross<kMask, kPlanes>>(stream, args, matrices);
    }
    const unsigned length = args.place.length(0);
    if constexpr (kMask == Mask::kNone) {
        using Longest = PackLong<kPlanes, 8, 16>;
        if (args.from.place.col_stride == 1) {
            if (length <= 64) return start<PackShort<kPlanes, 1>>(stream, args, matrices);
            if (length <= 128) return start<PackShort<kPlanes, 2>>(stream, args, matrices);
            if (length > 1024 && length <= 3072)
                return start<PackLong<kPlanes, 4, 6>>(stream, args, matrices);
            if (length > 3072 && length <= Longest::kMost) return start<Longest>(stream, args, matrices);
        }
    }
    if (length <= 128) return start<Pack<kMask, kPlanes, 1>>(stream, args, matrices);
    start<Pack<kMask, kPlanes, 8>>(stream, args, matrices);
}

template <unsigned kPlanesA, Mask kMask>
void choose(LaunchStream stream, const ProductI16Args& args, unsigned matrices,
            const Processors& processors) {
    if constexpr (kMask == Mask::kNone || kMask == Mask::kLower) {
        const bool is_one = args.a.place.blocks() == 1 && !args.carry;
        if (can_be_wide(args, processors) && fills(tile_counts(args).tiles * matrices, processors.count)) {
            if constexpr (kPlanesA == 2) {
                if (is_one)
                    return start_wide<Wide<2, kMask, WideBlocks::kOne>>(stream, args, matrices, processors);
            }
            if constexpr (kMask == Mask::kNone)
                return start_wide<Wide<kPlanesA>>(stream, args, matrices, processors);
        }
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

SplitK split_of(const ProductI16Args& args, Mask mask, unsigned matrices, const Processors& processors) {
    // A bias comes after the last block of k, which AddPartsI16 does not know.
    if (mask != Mask::kNone || matrices != 1 || args.bias != nullptr || !can_be_wide(args, processors))
        return {};
    const TileCounts counts = tile_counts(args);
    return fills(counts.tiles * counts.blocks, processors.count) ? split_k(counts, processors) : SplitK{};
}

std::uint64_t part_numbers(const ProductI16Args& args) {
    return args.split.parts * tile_counts(args).numbers;
}

std::uint64_t most_part_numbers(const DigitPlace& a, const DigitPlace& b, unsigned processors) {
    const TileCounts counts = tile_counts({.a = {.place = a}, .b = {.place = b}});
    if (processors == 0 || !fills(counts.tiles * counts.blocks, processors)) return 0;
    return most_part_numbers(counts, processors);
}

void product_i16(LaunchStream stream, const ProductI16Args& args, Mask mask, unsigned matrices,
                 const Processors& processors) {
    if (args.a.place.lines == 0 || args.b.place.lines == 0 || matrices == 0) return;
    if (args.split.cuts()) {
        ASSAY_CHECK(mask == Mask::kNone && matrices == 1 && args.bias == nullptr);
        return args.a.place.planes == 3 ? start_cut<3>(stream, args) : start_cut<2>(stream, args);
    }
    if (args.a.place.planes == 3) return choose<3, Mask::kNone>(stream, args, matrices, processors);
    switch (mask) {
        case Mask::kNone: return choose<2, Mask::kNone>(stream, args, matrices, processors);
        case Mask::kLower: return choose<2, Mask::kLower>(stream, args, matrices, processors);
        case Mask::kUpTo: return choose<2, Mask::kUpTo>(stream, args, matrices, processors);
        case Mask::kFromOn: return choose<2, Mask::kFromOn>(stream, args, matrices, processors);
    }
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
