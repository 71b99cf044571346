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

/// A warp packs a block of a line. Grid: lines in eights, blocks of k, matrices. A masked term is a zero that
/// takes no part in a maximum.
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
        std::uint32_t most = 0;
        for (unsigned k = block.lane(); k < length; k += kWarp) {
            const auto bits = static_cast<std::uint32_t>(bits_of(number(args, block.z(), line, first + k)));
            const std::uint32_t size = bits & 0x7fffffffU;
            most = size > most ? size : most;
        }
        for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) {
            const std::uint32_t other = block.shfl_xor(most, lanes);
            most = other > most ? other : most;
        }
        const std::int32_t exponent = row_exponent(most, static_cast<int>(args.place.planes));
        if (block.lane() == 0) args.exponents.set(args.place.exponent(block.z(), line, b), exponent);
        for (unsigned word = block.lane(); word < args.place.block_words(); word += kWarp) {
            put(block, args, line, word, length, exponent);
        }
    }

private:
    static ASSAY_SIMT float number(const Args& args, unsigned matrix, unsigned line, unsigned k) {
        if ((kMask == Mask::kUpTo && k > line) || (kMask == Mask::kFromOn && k < line)) return 0.0F;
        return args.from.data[args.from.place.at(matrix, line, k)];
    }

    // Four numbers of the line into a word of each plane.
    static ASSAY_SIMT void put(const SimtBlock& block, const Args& args, unsigned line, unsigned word,
                               unsigned length, std::int32_t exponent) {
        std::uint32_t words[3] = {0, 0, 0};
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned k = 4 * word + i;
            if (k >= length) continue;
            std::int32_t rest =
                quantise(number(args, block.z(), line, block.y() * args.place.block + k), exponent);
            ASSAY_UNROLL
            for (unsigned plane = 0; plane < 3; ++plane) {
                const std::int32_t digit = static_cast<std::int8_t>(rest & 0xff);
                words[plane] |= (static_cast<std::uint32_t>(digit) & 0xffU) << (8 * i);
                rest = (rest - digit) >> 8;
            }
        }
        if (kFault == ProductFault::kStaleDigits && 4 * word >= length) return;
        ASSAY_UNROLL
        for (unsigned plane = 0; plane < 3; ++plane) {
            if (plane >= args.place.planes) continue;
            args.digits.set(args.place.word(block.z(), plane, line, block.y()) + word, words[plane]);
        }
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
