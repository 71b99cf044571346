// SPDX-License-Identifier: Apache-2.0
// Gives products of profile i16 their operands: rows of A or columns of B along k ("lines") as digits of base
// 256, each in [-128, 127], and an exponent for every line and block of k (contracts/arithmetic/
// exact_product.hpp). Digits of one weight are a plane; a line has its blocks one after another, each filled
// up with zeros to a multiple of 32.
#pragma once

#include "trainer/cuda/kernels/fixed_point.hpp"
#include "trainer/cuda/kernels/operand.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Where the digits of `lines` lines of `depth` numbers lie, in blocks of `block`.
struct DigitPlace {
    unsigned lines = 0;
    unsigned depth = 0;
    unsigned block = 1;
    unsigned planes = 2;

    [[nodiscard]] ASSAY_BOTH unsigned blocks() const { return (depth + block - 1) / block; }
    /// Numbers of a block that there are.
    [[nodiscard]] ASSAY_BOTH unsigned length(unsigned b) const {
        const unsigned rest = depth - b * block;
        return rest < block ? rest : block;
    }
    /// Words of four digits that a block takes.
    [[nodiscard]] ASSAY_BOTH unsigned block_words() const {
        return ((block < depth ? block : depth) + 31) / 32 * 8;
    }
    [[nodiscard]] ASSAY_BOTH std::uint64_t line_words() const {
        return std::uint64_t{blocks()} * block_words();
    }
    /// Of a matrix: words of digits, and exponents.
    [[nodiscard]] ASSAY_BOTH std::uint64_t words() const { return planes * lines * line_words(); }
    [[nodiscard]] ASSAY_BOTH std::uint64_t exponents() const { return std::uint64_t{blocks()} * lines; }
    /// First word of a block of a line.
    [[nodiscard]] ASSAY_BOTH std::uint64_t word(unsigned matrix, unsigned plane, unsigned line,
                                                unsigned b) const {
        return matrix * words() + (std::uint64_t{plane} * lines + line) * line_words() +
               std::uint64_t{b} * block_words();
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

namespace packing {

/// The number at (line, k), zero where the mask has none.
template <Mask kMask>
ASSAY_SIMT float masked(float value, unsigned line, unsigned k) {
    return (kMask == Mask::kUpTo && k > line) || (kMask == Mask::kFromOn && k < line) ? 0.0F : value;
}

ASSAY_SIMT std::uint32_t larger(std::uint32_t most, float value) {
    const std::uint32_t size = static_cast<std::uint32_t>(bits_of(value)) & 0x7fffffffU;
    return size > most ? size : most;
}

/// Adds the digits of a number to a word of each plane.
ASSAY_SIMT void add_digits(float value, std::int32_t exponent, unsigned i, std::uint32_t (&words)[3]) {
    std::int32_t rest = quantise(value, exponent);
    ASSAY_UNROLL
    for (unsigned plane = 0; plane < 3; ++plane) {
        const std::int32_t digit = static_cast<std::int8_t>(rest & 0xff);
        words[plane] |= (static_cast<std::uint32_t>(digit) & 0xffU) << (8 * i);
        rest = (rest - digit) >> 8;
    }
}

}  // namespace packing

/// A warp packs a block of a line, whose numbers lie side by side or anyhow. Grid: lines in eights, blocks of
/// k, matrices. A masked term is a zero that takes no part in a maximum.
template <Mask kMask, ProductFault kFault = ProductFault::kNone>
struct Pack {
    static constexpr unsigned kWarps = 8;
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = 4;
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
        const float* const from = args.from.data + args.from.place.at(block.z(), line, first);
        const std::uint64_t stride = args.from.place.col_stride;
        const Line of{from, stride, line, first, length, stride == 1 && is_aligned16(from)};
        std::uint32_t most = 0;
        if (of.fours) {
            for (unsigned k = 4 * block.lane(); k < length; k += 4 * kWarp) {
                float values[4];
                load(of, k, values);
                ASSAY_UNROLL
                for (unsigned i = 0; i < 4; ++i) most = packing::larger(most, values[i]);
            }
        } else {
            for (unsigned k = block.lane(); k < length; k += kWarp)
                most = packing::larger(most, packing::masked<kMask>(from[k * stride], line, first + k));
        }
        for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) {
            const std::uint32_t other = block.shfl_xor(most, lanes);
            most = other > most ? other : most;
        }
        const std::int32_t exponent = row_exponent(most, static_cast<int>(args.place.planes));
        if (block.lane() == 0) args.exponents.set(args.place.exponent(block.z(), line, b), exponent);
        const std::uint64_t to = args.place.word(block.z(), 0, line, b);
        const std::uint64_t next = args.place.lines * args.place.line_words();
        for (unsigned word = block.lane(); word < args.place.block_words(); word += kWarp) {
            if (kFault == ProductFault::kStaleDigits && 4 * word >= length) continue;
            float values[4];
            load(of, 4 * word, values);
            std::uint32_t words[3] = {0, 0, 0};
            ASSAY_UNROLL
            for (unsigned i = 0; i < 4; ++i) packing::add_digits(values[i], exponent, i, words);
            ASSAY_UNROLL
            for (unsigned plane = 0; plane < 3; ++plane) {
                if (plane < args.place.planes) args.digits.set(to + plane * next + word, words[plane]);
            }
        }
    }

private:
    struct Line {
        const float* from;  // its first number in the block
        std::uint64_t stride;
        unsigned line, first, length;
        bool fours;  // numbers can be loaded four at a time
    };

    // Four numbers from k of the block on; zeros beyond its end.
    static ASSAY_SIMT void load(const Line& of, unsigned k, float (&values)[4]) {
        if (of.fours && k + 4 <= of.length) {
            load4(of.from + k, values);
            ASSAY_UNROLL
            for (unsigned i = 0; i < 4; ++i)
                values[i] = packing::masked<kMask>(values[i], of.line, of.first + k + i);
            return;
        }
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
            values[i] = k + i < of.length
                            ? packing::masked<kMask>(of.from[(k + i) * of.stride], of.line, of.first + k + i)
                            : 0.0F;
        }
    }
};

/// The same where lines lie side by side (row_stride 1): a block packs a block of k of 32 lines, and digits
/// change places in shared memory. Grid: lines in thirty-twos, blocks of k, matrices.
template <Mask kMask, ProductFault kFault = ProductFault::kNone>
struct PackAcross {
    static constexpr unsigned kWarps = 16;
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = 2;
    static constexpr bool kWaits = true;
    static constexpr unsigned kTurnWords = 2 * kWarp;  // of a line that are made at a time
    using Args = PackArgs;
    struct Shared {
        std::uint32_t most[kWarps][kWarp];
        std::uint32_t words[3][kWarp][kTurnWords + 1];
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
        const std::uint64_t stride = args.from.place.col_stride;
        const bool is_line = line < args.place.lines;
        const float* const from = args.from.data + args.from.place.at(block.z(), is_line ? line : 0, first);
        std::uint32_t most = 0;
        for (unsigned k = block.warp(); is_line && k < length; k += kWarps)
            most = packing::larger(most, packing::masked<kMask>(from[k * stride], line, first + k));
        shared.most[block.warp()][block.lane()] = most;
        block.sync();
        ASSAY_UNROLL
        for (unsigned warp = 0; warp < kWarps; ++warp) {
            const std::uint32_t other = shared.most[warp][block.lane()];
            most = other > most ? other : most;
        }
        const std::int32_t exponent = row_exponent(most, static_cast<int>(args.place.planes));
        if (is_line && block.warp() == 0)
            args.exponents.set(args.place.exponent(block.z(), line, b), exponent);
        const unsigned all = args.place.block_words();
        const std::uint64_t next = args.place.lines * args.place.line_words();
        for (unsigned begin = 0; begin < all; begin += kTurnWords) {
            ASSAY_UNROLL
            for (unsigned own = block.warp(); own < kTurnWords; own += kWarps) {
                std::uint32_t words[3] = {0, 0, 0};
                ASSAY_UNROLL
                for (unsigned i = 0; i < 4; ++i) {
                    const unsigned k = 4 * (begin + own) + i;
                    if (!is_line || k >= length) continue;
                    packing::add_digits(packing::masked<kMask>(from[k * stride], line, first + k), exponent,
                                        i, words);
                }
                ASSAY_UNROLL
                for (unsigned plane = 0; plane < 3; ++plane)
                    shared.words[plane][block.lane()][own] = words[plane];
            }
            block.sync();
            for (unsigned i = block.warp(); i < kWarp && first_line + i < args.place.lines; i += kWarps) {
                const std::uint64_t to = args.place.word(block.z(), 0, first_line + i, b) + begin;
                for (unsigned word = block.lane(); word < kTurnWords && begin + word < all; word += kWarp) {
                    if (kFault == ProductFault::kStaleDigits && 4 * (begin + word) >= length) continue;
                    ASSAY_UNROLL
                    for (unsigned plane = 0; plane < 3; ++plane) {
                        if (plane < args.place.planes)
                            args.digits.set(to + plane * next + word, shared.words[plane][i][word]);
                    }
                }
            }
            if (kFault != ProductFault::kMissingBarrier) block.sync();
        }
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
