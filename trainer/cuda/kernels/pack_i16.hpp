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

/// Where the line's number at k lies. Most operands have one matrix, which needs no divisions.
ASSAY_SIMT const float* number_at(const OperandView& from, unsigned matrix, unsigned line, unsigned k) {
    return from.data + (matrix == 0 ? 0 : from.place.matrix(matrix)) + from.place.element(line, k);
}

/// The number at (line, k); zero if it is masked.
template <Mask kMask>
ASSAY_SIMT float masked(float value, unsigned line, unsigned k) {
    return (kMask == Mask::kUpTo && k > line) || (kMask == Mask::kFromOn && k < line) ? 0.0F : value;
}

ASSAY_SIMT std::uint32_t larger(std::uint32_t most, float value) {
    const std::uint32_t size = static_cast<std::uint32_t>(bits_of(value)) & 0x7fffffffU;
    return size > most ? size : most;
}

/// The exponent of a line's numbers. They are plain if all are finite and one power of two scales them to
/// two digits; other lines are rare.
struct LineScale {
    std::int32_t exponent;
    bool is_plain;
};

/// Of the bits of the largest magnitude.
template <unsigned kPlanes>
ASSAY_SIMT LineScale scale_of(std::uint32_t most) {
    constexpr std::uint32_t kInfinity = 0x7f800000U;
    const std::int32_t exponent = row_exponent(most, kPlanes);
    return {exponent, kPlanes == 2 && most < kInfinity && exponent >= -127};
}

/// The digits of four numbers, a word of each plane. With half a base added in every place but the highest,
/// a number's bytes are its digits plus 128, and the highest the digit itself; sums wrap around.
template <bool kPlain = false, unsigned kPlanes>
ASSAY_SIMT void digits_of(const float (&values)[4], std::int32_t exponent, std::uint32_t (&words)[kPlanes]) {
    constexpr std::uint32_t kHalves = kPlanes == 2 ? 0x80U : 0x8080U;
    // At 1.5 · 2^23 a binary32's ulp is 1: the sum, rounded once, ends in the integer that quantise() gives.
    constexpr float kUlpOne = 12'582'912.0F + kHalves;
    std::uint32_t raised[4];
    ASSAY_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
        raised[i] =
            kPlain ? static_cast<std::uint32_t>(bits_of(fma_rn(values[i], power_of_two(-exponent), kUlpOne)))
                   : static_cast<std::uint32_t>(quantise(values[i], exponent)) + kHalves;
    }
    ASSAY_UNROLL
    for (unsigned plane = 0; plane < kPlanes; ++plane) {
        words[plane] = same_bytes(plane, raised[0], raised[1], raised[2], raised[3]);
        if (plane + 1 < kPlanes) words[plane] ^= 0x80808080U;
    }
}

/// Four numbers of a line from place k of the block on; zeros beyond its end.
ASSAY_SIMT void load_each(const float* from, std::uint64_t stride, unsigned k, unsigned length,
                          float (&values)[4]) {
    ASSAY_UNROLL
    for (unsigned i = 0; i < 4; ++i) values[i] = k + i < length ? read(from + (k + i) * stride) : 0.0F;
}

/// The same of neighbours at an address aligned to 16 bytes. REQUIRES a length in fours.
ASSAY_SIMT void load_four(const float* from, unsigned k, unsigned length, float (&values)[4]) {
    if (k < length) {
        read4(from + k, values);
    } else {
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4; ++i) values[i] = 0.0F;
    }
}

/// Stores the digits of four numbers of a block of k that begins at word `to`: those of word `word + more`,
/// where `more` is a multiple of kPieceWords known to the compiler.
template <unsigned kPlanes, bool kPlain, ProductFault kFault>
ASSAY_SIMT void put_word(const PackArgs& args, std::uint64_t to, unsigned word, unsigned more,
                         unsigned length, const float (&values)[4], std::int32_t exponent) {
    if (word + more >= args.place.block_words()) return;
    if (kFault == ProductFault::kStaleDigits && 4 * (word + more) >= length) return;
    std::uint32_t words[kPlanes];
    digits_of<kPlain>(values, exponent, words);
    const std::uint64_t at = to + word / kPieceWords * (kPlanes * kPieceWords) + word % kPieceWords;
    ASSAY_UNROLL
    for (unsigned plane = 0; plane < kPlanes; ++plane)
        args.digits.set(at + (more * kPlanes + plane * kPieceWords), words[plane]);
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
    static constexpr unsigned kBlocks = kMask == Mask::kNone ? 4 : 3;  // masks take registers
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
        const float* const from = packing::number_at(args.from, block.z(), line, first);
        const std::uint64_t stride = args.from.place.col_stride;
        const Line of{from, stride, line, first, length};
        // One branch for all loads, so that nothing comes between them.
        if (stride == 1 && length % 4 == 0 && is_aligned16(from)) {
            pack<true>(block, args, of);
        } else {
            pack<false>(block, args, of);
        }
    }

private:
    struct Line {
        const float* from;  // its first number in the block
        std::uint64_t stride;
        unsigned line, first, length;
    };

    // With kFours numbers can be loaded four at a time.
    template <bool kFours>
    static ASSAY_SIMT void pack(const SimtBlock& block, const Args& args, const Line& of) {
        float held[kHeld][4];
        std::uint32_t most = 0;
        ASSAY_UNROLL
        for (unsigned i = 0; i < kHeld; ++i) load<kFours>(of, 4 * (block.lane() + i * kWarp), held[i]);
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4 * kHeld; ++i) most = packing::larger(most, held[i / 4][i % 4]);
        ASSAY_NO_UNROLL
        for (unsigned word = block.lane() + kHeld * kWarp; 4 * word < of.length; word += kWarp) {
            float values[4];
            load<kFours>(of, 4 * word, values);
            ASSAY_UNROLL
            for (unsigned i = 0; i < 4; ++i) most = packing::larger(most, values[i]);
        }
        for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) {
            const std::uint32_t other = block.shfl_xor(most, lanes);
            most = other > most ? other : most;
        }
        const packing::LineScale scale = packing::scale_of<kPlanes>(most);
        const unsigned b = block.y();
        if (block.lane() == 0) args.exponents.set(args.place.exponent(block.z(), of.line, b), scale.exponent);
        const std::uint64_t to = args.place.first_word(block.z(), of.line, b);
        if (kMask == Mask::kNone && scale.is_plain) {
            put_held<true>(block, args, to, of.length, held, scale.exponent);
        } else {
            put_held<false>(block, args, to, of.length, held, scale.exponent);
        }
        ASSAY_NO_UNROLL
        for (unsigned word = block.lane() + kHeld * kWarp; word < args.place.block_words(); word += kWarp) {
            float values[4];
            load<kFours>(of, 4 * word, values);
            packing::put_word<kPlanes, false, kFault>(args, to, word, 0, of.length, values, scale.exponent);
        }
    }

    template <bool kPlain>
    static ASSAY_SIMT void put_held(const SimtBlock& block, const Args& args, std::uint64_t to,
                                    unsigned length, const float (&held)[kHeld][4], std::int32_t exponent) {
        ASSAY_UNROLL
        for (unsigned i = 0; i < kHeld; ++i)
            packing::put_word<kPlanes, kPlain, kFault>(args, to, block.lane(), i * kWarp, length, held[i],
                                                       exponent);
    }

    // Four numbers from place k of the block on; zeros beyond its end.
    template <bool kFours>
    static ASSAY_SIMT void load(const Line& of, unsigned k, float (&values)[4]) {
        if (kFours) {
            packing::load_four(of.from, k, of.length, values);
        } else {
            packing::load_each(of.from, of.stride, k, of.length, values);
        }
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4; ++i)
            values[i] = packing::masked<kMask>(values[i], of.line, of.first + k + i);
    }
};

/// The same for lines that lie side by side (row_stride 1): a thread block packs a block of k of 32 lines and
/// transposes digits in shared memory. For short blocks of k and under masks. Grid: lines in thirty-twos,
/// blocks of k, matrices.
template <Mask kMask, unsigned kPlanes = 2, ProductFault kFault = ProductFault::kNone>
struct PackAcross {
    static constexpr unsigned kWarps = 4;
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = 6;
    static constexpr bool kWaits = true;
    static constexpr unsigned kOwn = 8;                    // words of a line that a warp makes at a time
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
        const Line of{packing::number_at(args.from, block.z(), is_line ? line : 0, first),
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
