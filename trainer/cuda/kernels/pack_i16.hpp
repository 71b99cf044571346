// SPDX-License-Identifier: Apache-2.0
// Packs operands for products of profile i16: rows of A or columns of B along k ("lines") become digits of
// base 256, each in [-128, 127], and an exponent for every line and block of k
// (contracts/arithmetic/exact_product.hpp). The digits of one weight form a plane. A line has its blocks one
// after another, each filled up with zeros to whole pieces of 64 digits. All planes of a piece lie together,
// so that a warp reads whole lines of memory.
#pragma once

#include "trainer/cuda/kernels/fixed_point.hpp"
#include "trainer/cuda/kernels/operand.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Digits of a plane that lie together along k.
inline constexpr unsigned kPieceDigits = 64;
inline constexpr unsigned kPieceWords = kPieceDigits / 4;

/// Where the digits of `lines` lines of `depth` numbers lie, in blocks of `block`.
struct DigitPlace {
    unsigned lines = 0;
    unsigned depth = 0;
    unsigned block = 1;
    unsigned planes = 2;

    [[nodiscard]] ASSAY_BOTH unsigned blocks() const { return (depth + block - 1) / block; }
    /// The count of numbers in a block.
    [[nodiscard]] ASSAY_BOTH unsigned length(unsigned b) const {
        const unsigned rest = depth - b * block;
        return rest < block ? rest : block;
    }
    /// Words of four digits that a block takes in a plane.
    [[nodiscard]] ASSAY_BOTH unsigned block_words() const {
        return ((block < depth ? block : depth) + kPieceDigits - 1) / kPieceDigits * kPieceWords;
    }
    [[nodiscard]] ASSAY_BOTH std::uint64_t line_words() const {
        return std::uint64_t{blocks()} * block_words() * planes;
    }
    /// Words of digits, and exponents, of a matrix.
    [[nodiscard]] ASSAY_BOTH std::uint64_t words() const { return lines * line_words(); }
    [[nodiscard]] ASSAY_BOTH std::uint64_t exponents() const { return std::uint64_t{blocks()} * lines; }
    /// First word of a block of a line.
    [[nodiscard]] ASSAY_BOTH std::uint64_t first_word(unsigned matrix, unsigned line, unsigned b) const {
        return matrix * words() + line * line_words() + std::uint64_t{b} * block_words() * planes;
    }
    [[nodiscard]] ASSAY_BOTH std::uint64_t exponent(unsigned matrix, unsigned line, unsigned b) const {
        return matrix * exponents() + std::uint64_t{b} * lines + line;
    }
};

struct PackArgs {
    OperandView from;  ///< element (line, k)
    DigitPlace place;
    OutputArray<std::uint32_t> digits;
    OutputArray<std::int32_t> exponents;
};

/// The most lines of a tile in a masked product.
inline constexpr unsigned kMaskedRows = 64;

namespace packing {

/// The number at (line, k); zero if it is masked.
template <Mask kMask>
ASSAY_SIMT float masked(float value, unsigned line, unsigned k) {
    return (kMask == Mask::kUpTo && k > line) || (kMask == Mask::kFromOn && k < line) ? 0.0F : value;
}

ASSAY_SIMT std::uint32_t larger(std::uint32_t most, float value) {
    const std::uint32_t size = static_cast<std::uint32_t>(bits_of(value)) & 0x7fffffffU;
    return size > most ? size : most;
}

/// The digits of four numbers, a word of each plane.
template <unsigned kPlanes>
ASSAY_SIMT void digits_of(const float (&values)[4], std::int32_t exponent, std::uint32_t (&words)[kPlanes]) {
    std::int32_t rest[4];
    ASSAY_UNROLL
    for (unsigned i = 0; i < 4; ++i) rest[i] = quantise(values[i], exponent);
    ASSAY_UNROLL
    for (unsigned plane = 0; plane < kPlanes; ++plane) {
        words[plane] = low_bytes(rest[0], rest[1], rest[2], rest[3]);
        // Subtract the digit: the low byte as a signed number.
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4; ++i) rest[i] = (rest[i] + 128) >> 8;
    }
}

/// Whether a masked product reads the line's block of k that begins at `first`. Its tiles have at most
/// kMaskedRows lines, beginning at a multiple of that.
template <Mask kMask>
ASSAY_SIMT bool is_read(unsigned line, unsigned first, unsigned block) {
    const unsigned tile = line / kMaskedRows * kMaskedRows;
    if (kMask == Mask::kUpTo) return first < tile + kMaskedRows;
    if (kMask == Mask::kFromOn) return first + block > tile;
    return true;
}

}  // namespace packing

/// Packs any operand: each warp a block of a line. Grid: lines in eights, blocks of k, matrices. A masked
/// term is a zero and does not count in a maximum. Blocks that no product reads are skipped. The first kHeld
/// · 128 numbers of a block of k are read once and held in registers, the others are read twice.
template <Mask kMask, unsigned kPlanes = 2, unsigned kHeld = 8, ProductFault kFault = ProductFault::kNone>
struct Pack {
    static constexpr unsigned kWarps = 8;
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = kHeld > 8 ? 2 : 4;
    static constexpr bool kWaits = true;
    using Args = PackArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.digits);
        visit(args.exponents);
    }
    static Grid grid(const Args& args, unsigned matrices) {
        return {(args.place.lines + kWarps - 1) / kWarps, args.place.blocks(), matrices};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const unsigned line = block.x() * kWarps + block.warp(), b = block.y();
        if (line >= args.place.lines) return;
        const unsigned first = b * args.place.block, length = args.place.length(b);
        if (!packing::is_read<kMask>(line, first, args.place.block)) return;
        const float* const from = args.from.data + args.from.place.at(block.z(), line, first);
        const std::uint64_t stride = args.from.place.col_stride;
        const Line of{from, stride, line, first, length, stride == 1 && is_aligned16(from)};
        float held[kHeld][4];
        std::uint32_t most = 0;
        ASSAY_UNROLL
        for (unsigned i = 0; i < kHeld; ++i) load(of, 4 * (block.lane() + i * kWarp), held[i]);
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4 * kHeld; ++i) most = packing::larger(most, held[i / 4][i % 4]);
        ASSAY_UNROLL_BY(4)
        for (unsigned word = block.lane() + kHeld * kWarp; 4 * word < length; word += kWarp) {
            float values[4];
            load(of, 4 * word, values);
            ASSAY_UNROLL
            for (unsigned i = 0; i < 4; ++i) most = packing::larger(most, values[i]);
        }
        for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) {
            const std::uint32_t other = block.shfl_xor(most, lanes);
            most = other > most ? other : most;
        }
        const std::int32_t exponent = row_exponent(most, kPlanes);
        if (block.lane() == 0) args.exponents.set(args.place.exponent(block.z(), line, b), exponent);
        const std::uint64_t to = args.place.first_word(block.z(), line, b);
        ASSAY_UNROLL
        for (unsigned i = 0; i < kHeld; ++i)
            put(args, to, block.lane() + i * kWarp, length, held[i], exponent);
        ASSAY_UNROLL_BY(4)
        for (unsigned word = block.lane() + kHeld * kWarp; word < args.place.block_words(); word += kWarp) {
            float values[4];
            load(of, 4 * word, values);
            put(args, to, word, length, values, exponent);
        }
    }

private:
    // The offset of a word of a plane from the line's first word in the block.
    static ASSAY_SIMT unsigned place_of(unsigned plane, unsigned word) {
        return (word / kPieceWords * kPlanes + plane) * kPieceWords + word % kPieceWords;
    }

    struct Line {
        const float* from;  // its first number in the block
        std::uint64_t stride;
        unsigned line, first, length;
        bool fours;  // whether numbers can be loaded four at a time
    };

    static ASSAY_SIMT void put(const Args& args, std::uint64_t to, unsigned word, unsigned length,
                               const float (&values)[4], std::int32_t exponent) {
        if (word >= args.place.block_words()) return;
        if (kFault == ProductFault::kStaleDigits && 4 * word >= length) return;
        std::uint32_t words[kPlanes];
        packing::digits_of(values, exponent, words);
        ASSAY_UNROLL
        for (unsigned plane = 0; plane < kPlanes; ++plane)
            args.digits.set(to + place_of(plane, word), words[plane]);
    }

    // Four numbers from place k of the block on; zeros beyond its end.
    static ASSAY_SIMT void load(const Line& of, unsigned k, float (&values)[4]) {
        if (of.fours && k + 4 <= of.length) {
            read4(of.from + k, values);
        } else {
            ASSAY_UNROLL
            for (unsigned i = 0; i < 4; ++i)
                values[i] = k + i < of.length ? read(of.from + (k + i) * of.stride) : 0.0F;
        }
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4; ++i)
            values[i] = packing::masked<kMask>(values[i], of.line, of.first + k + i);
    }
};

/// The same for lines that lie side by side (row_stride 1): a thread block packs a block of k of 32 lines and
/// transposes digits in shared memory. Short blocks of k use few warps. Grid: lines in thirty-twos, blocks of
/// k, matrices.
template <Mask kMask, unsigned kPlanes = 2, unsigned kWarps = 16, ProductFault kFault = ProductFault::kNone>
struct PackAcross {
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = kWarps > 8 ? 2 : 6;
    static constexpr bool kWaits = true;
    static constexpr unsigned kOwn = kWarps > 8 ? 4 : 8;   // words of a line that a warp makes at a time
    static constexpr unsigned kTurnWords = kOwn * kWarps;  // and a block
    static_assert(kTurnWords % kPieceWords == 0);
    using Args = PackArgs;
    struct Shared {
        std::uint32_t most[kWarps][kWarp];
        std::uint32_t words[kPlanes][kWarp][kTurnWords + 1];
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.digits);
        visit(args.exponents);
    }
    static Grid grid(const Args& args, unsigned matrices) {
        return {(args.place.lines + kWarp - 1) / kWarp, args.place.blocks(), matrices};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        Shared& shared = block.template shared<Shared>();
        const unsigned first_line = block.x() * kWarp, line = first_line + block.lane(), b = block.y();
        const unsigned first = b * args.place.block, length = args.place.length(b);
        if (!packing::is_read<kMask>(first_line, first, args.place.block)) return;
        const bool is_line = line < args.place.lines;
        const Line of{args.from.data + args.from.place.at(block.z(), is_line ? line : 0, first),
                      args.from.place.col_stride, line, first, is_line ? length : 0};
        Turn values;
        load(block, of, 0, values);
        std::uint32_t most = 0;
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4 * kOwn; ++i) most = packing::larger(most, values[i / 4][i % 4]);
        ASSAY_UNROLL_BY(8)
        for (unsigned k = 4 * kTurnWords + block.warp(); k < of.length; k += kWarps)
            most = packing::larger(most, of.number(k));
        shared.most[block.warp()][block.lane()] = most;
        block.sync();
        ASSAY_UNROLL
        for (unsigned warp = 0; warp < kWarps; ++warp) {
            const std::uint32_t other = shared.most[warp][block.lane()];
            most = other > most ? other : most;
        }
        const std::int32_t exponent = row_exponent(most, kPlanes);
        if (is_line && block.warp() == 0)
            args.exponents.set(args.place.exponent(block.z(), line, b), exponent);
        for (unsigned begin = 0; begin < args.place.block_words(); begin += kTurnWords) {
            if (begin != 0) load(block, of, begin, values);
            ASSAY_UNROLL
            for (unsigned own = 0; own < kOwn; ++own) {
                std::uint32_t words[kPlanes];
                packing::digits_of(values[own], exponent, words);
                ASSAY_UNROLL
                for (unsigned plane = 0; plane < kPlanes; ++plane)
                    shared.words[plane][block.lane()][block.warp() + own * kWarps] = words[plane];
            }
            block.sync();
            store(block, args, first_line, begin, length);
            if (kFault != ProductFault::kMissingBarrier) block.sync();
        }
    }

private:
    using Turn = float[kOwn][4];

    struct Line {
        const float* from;  // its first number in the block
        std::uint64_t stride;
        unsigned line, first, length;
        [[nodiscard]] ASSAY_SIMT float number(unsigned k) const {
            return packing::masked<kMask>(read(from + k * stride), line, first + k);
        }
    };

    // Loads all of a thread's numbers of a turn before any is used; zeros beyond the block's end.
    static ASSAY_SIMT void load(const SimtBlock& block, const Line& of, unsigned begin, Turn& values) {
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4 * kOwn; ++i) {
            const unsigned k = 4 * (begin + block.warp() + i / 4 * kWarps) + i % 4;
            values[i / 4][i % 4] = k < of.length ? of.number(k) : 0.0F;
        }
    }

    // Writes the words of a turn, each warp a line: all planes of a piece at a time.
    static ASSAY_SIMT void store(const SimtBlock& block, const Args& args, unsigned first_line,
                                 unsigned begin, unsigned length) {
        const Shared& shared = block.template shared<Shared>();
        for (unsigned i = block.warp(); i < kWarp && first_line + i < args.place.lines; i += kWarps) {
            const std::uint64_t to = args.place.first_word(block.z(), first_line + i, block.y());
            ASSAY_UNROLL
            for (unsigned at = block.lane(); at < kTurnWords * kPlanes; at += kWarp) {
                const unsigned plane = at / kPieceWords % kPlanes;
                const unsigned word = at / (kPieceWords * kPlanes) * kPieceWords + at % kPieceWords;
                if (begin + word >= args.place.block_words()) continue;
                if (kFault == ProductFault::kStaleDigits && 4 * (begin + word) >= length) continue;
                args.digits.set(to + begin * kPlanes + at, shared.words[plane][i][word]);
            }
        }
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
