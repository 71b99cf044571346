// SPDX-License-Identifier: Apache-2.0
// The tiles of fused attention (attention_i16.hpp). A block of four warps has 64 rows, a warp 16 of them. It
// goes over the other tokens in blocks of 128, in steps of 32. In a step a lane has 16 numbers: two rows,
// eight apart, by eight tokens, four neighbours and the four that lie 16 further. Sums of digits have no
// order, so a lane's own numbers, as digits, are its part of the next product's left operand: nothing changes
// lanes between the two products.
#pragma once

#include "trainer/cuda/kernels/attention_numbers.hpp"
#include "trainer/cuda/kernels/product_i16.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {
namespace attention {

inline constexpr unsigned kRows = 64;    ///< of a block
inline constexpr unsigned kWarps = 4;    ///< with 16 rows each
inline constexpr unsigned kBlock = 128;  ///< tokens of a block of a sum: arithmetic::kAttentionBlock
inline constexpr unsigned kStep = 32;    ///< tokens whose numbers a lane makes at a time
inline constexpr unsigned kSteps = kBlock / kStep;
inline constexpr unsigned kNumbers = 64;  ///< the most numbers of a head
inline constexpr unsigned kPitch = 20;    ///< words of 64 digits in shared memory: lanes read different banks
inline constexpr unsigned kTileWords = 2 * kBlock * kPitch;

/// An operand's digits in shared memory: of 128 tokens by token, or of a head's numbers along 128 tokens.
struct DigitTile {
    alignas(16) std::uint32_t words[kTileWords];
    alignas(16) std::int32_t exponents[kBlock];  // of each token, or of each number; see make_factors
    // The least nearness of each 32 of them, which lies where the words of a line end.
    [[nodiscard]] ASSAY_SIMT unsigned near(unsigned i) const { return words[kFirstNear + i]; }
    ASSAY_SIMT void set_near(unsigned i, unsigned least) { words[kFirstNear + i] = least; }

private:
    static constexpr unsigned kFirstNear = kPitch - kBlock / kStep;
    static_assert(kFirstNear >= kPieceWords);
};
/// A lane's numbers of a step: [n-tile of eight columns][row, column].
using LaneNumbers = float[4][4];
/// Their sums of digits by weight: 1, 256 and 65,536.
using WeightSums = std::int32_t[3][4][4];

/// The tokens of a lane in a step: number n of them, 0 to 7, after the lane's first.
ASSAY_SIMT unsigned first_in_step(unsigned lane) { return lane % 4 * 4; }
ASSAY_SIMT unsigned next_in_step(unsigned n) { return n / 4 * 16 + n % 4; }
/// The place of the lane's token n of a step in its block of 128.
ASSAY_SIMT unsigned in_block(const SimtBlock& block, unsigned step, unsigned n) {
    return step * kStep + first_in_step(block.lane()) + next_in_step(n);
}
/// The token (0 to 7) and the row to which number [across][i] of a step belongs.
ASSAY_SIMT unsigned token_at(unsigned across, unsigned i) { return across * 2 + i % 2; }
ASSAY_SIMT unsigned row_at(unsigned i) { return i / 2; }

/// Sets sums of digits to where they begin.
ASSAY_SIMT void begin_sums(WeightSums& sums) {
    ASSAY_UNROLL
    for (unsigned i = 0; i < 48; ++i) sums[i / 16][i / 4 % 4][i % 4] = i < 32 ? 0 : kRaised;
}

/// The address of the row that a lane passes to load_matrices, for two planes of eight lines with eight words
/// each, in two halves. The planes are `lines` lines apart.
ASSAY_SIMT const std::uint32_t* own_row(const SimtBlock& block, const DigitTile& tile, unsigned lines) {
    const unsigned lane = block.lane();
    return tile.words + (lane / 16 * lines + lane % 8) * kPitch + lane / 8 % 2 * 4;
}

/// Words of a token's digits, 64 in both planes: depth and block of their place are at most 64 and at least.
inline constexpr unsigned kTokenWords = 2 * kPieceWords;

/// A warp's 16 rows as the left operand of products along a head's numbers.
struct RowDigits {
    std::uint32_t words[2][2][4];  // [plane][32 numbers][word]
    std::int32_t exponents[2];     // of the lane's rows
    unsigned near;                 // the least nearness of the warp's rows

    ASSAY_SIMT void load(const SimtBlock& block, const Digits& digits, unsigned matrix, unsigned first) {
        unsigned own_near = 2;
        ASSAY_UNROLL
        for (unsigned side = 0; side < 2; ++side) {
            const unsigned row = first + block.lane() / 4 + 8 * side;
            const bool exists = row < digits.place.lines;
            const std::uint64_t line = std::uint64_t{matrix} * digits.place.lines + (exists ? row : 0);
            const std::uint32_t* const from = digits.words + line * kTokenWords + block.lane() % 4;
            ASSAY_UNROLL
            for (unsigned i = 0; i < 8; ++i)
                words[i / 4][i / 2 % 2][i % 2 * 2 + side] = exists ? from[i * 4] : 0U;
            exponents[side] = exists ? digits.exponents[line] : 0;
            const unsigned other = nearness(exponents[side]);
            own_near = other < own_near ? other : own_near;
        }
        near = least_nearness(block, own_near);
    }
    /// What a product of the row has to be multiplied with: `scale`, and the row's power of two unless the
    /// product has it.
    [[nodiscard]] ASSAY_SIMT float factor(unsigned row, bool has_it, float scale) const {
        return has_it ? scale : mul_rn(power_of_two(exponents[row]), scale);
    }
};

/// Each thread copies an exponent: 0 for a missing line.
ASSAY_SIMT void copy_exponent(const SimtBlock& block, const Digits& digits, std::uint64_t first,
                              unsigned line, DigitTile& to) {
    static_assert(kWarps * kWarp == kBlock);
    const bool valid = line < digits.place.lines;
    block.copy4(&to.exponents[block.thread()], digits.exponents + (valid ? first + line : 0), valid);
}

/// Each thread makes the exponent that it has copied a power of two, if it is not far. Then threads have to
/// meet.
ASSAY_SIMT void make_factors(const SimtBlock& block, DigitTile& tile) {
    const std::int32_t exponent = tile.exponents[block.thread()];
    const unsigned own = nearness(exponent), least = least_nearness(block, own);
    if (own > 0) tile.exponents[block.thread()] = bits_of(power_of_two(exponent));
    if (block.lane() == 0) tile.set_near(block.warp(), least);
}
/// Copies the digits of 128 tokens by token. A lane's four of 16 tokens go to rows 2t and 2t + 1, and eight
/// further, so that a lane's columns of a product are its own tokens.
ASSAY_SIMT void copy_tokens(const SimtBlock& block, const Digits& digits, unsigned matrix, unsigned b,
                            DigitTile& to) {
    const unsigned thread = recomputed(block.thread());
    const unsigned own = thread / 8, chunk = thread % 8, first = b * kBlock + own;
    const unsigned row = own % 4 / 2 * 8 + own / 4 * 2 + own % 2;
    const std::uint64_t line = std::uint64_t{matrix} * digits.place.lines + first;
    const std::uint32_t* const from = digits.words + line * kTokenWords + chunk * 4;
    std::uint32_t* const at = to.words + (chunk / 4 * kBlock + row) * kPitch + chunk % 4 * 4;
    // Without conditions all addresses are constants from two of them.
    const bool all = b * kBlock + kBlock <= digits.place.lines;
    ASSAY_UNROLL
    for (unsigned i = 0; i < kBlock / 16 && all; ++i)
        block.copy16(at + 16 * i * kPitch, from + 16 * i * kTokenWords, true);
    ASSAY_UNROLL
    for (unsigned i = 0; i < kBlock / 16 && !all; ++i) {
        const bool valid = first + 16 * i < digits.place.lines;
        block.copy16(at + 16 * i * kPitch, valid ? from + 16 * i * kTokenWords : digits.words, valid);
    }
    copy_exponent(block, digits, std::uint64_t{matrix} * digits.place.lines, b * kBlock + block.thread(), to);
}

/// Copies the digits of a head's numbers along a block of 128 tokens.
ASSAY_SIMT void copy_numbers(const SimtBlock& block, const Digits& digits, unsigned matrix, unsigned b,
                             DigitTile& to) {
    const unsigned thread = recomputed(block.thread()), own = thread / 16, chunk = thread % 16;
    const unsigned lines = digits.place.lines;
    // A line's blocks of both planes, of one or two pieces.
    const unsigned blocks = (digits.place.depth + kBlock - 1) / kBlock;
    const unsigned words = digits.place.depth > kPieceDigits ? 4 * kPieceWords : 2 * kPieceWords;
    const std::uint64_t line = std::uint64_t{matrix} * lines + own;
    const std::uint32_t* const from =
        digits.words + line * (blocks * words) + std::uint64_t{b} * words + chunk * 4;
    std::uint32_t* const at = to.words + (chunk / 4 * kNumbers + own) * kPitch + chunk % 4 * 4;
    const unsigned pitch = 8 * blocks * words;
    // Without conditions there is little to compute.
    const bool all = lines == kNumbers && words == 4 * kPieceWords;
    ASSAY_UNROLL
    for (unsigned i = 0; i < kNumbers / 8 && all; ++i)
        block.copy16(at + 8 * i * kPitch, from + std::uint64_t{i} * pitch, true);
    const bool is_piece = chunk * 4 < words;
    ASSAY_UNROLL
    for (unsigned i = 0; i < kNumbers / 8 && !all; ++i) {
        const bool valid = own + 8 * i < lines && is_piece;
        block.copy16(at + 8 * i * kPitch, valid ? from + std::uint64_t{i} * pitch : digits.words, valid);
    }
    copy_exponent(block, digits, (std::uint64_t{matrix} * blocks + b) * lines, block.thread(), to);
}

/// Numbers of each lane of a block of 128 tokens, held in shared memory while their largest is searched, or
/// for a loop that is not unrolled: [step, four of them][thread]. In registers they would take 64 of them,
/// and separate code for each step. Four numbers belong to a row and to neighbouring tokens: 2 · group + row,
/// where `group` is the half of a step's tokens.
struct alignas(16) FourNumbers {
    float of[4];
};
using HeldNumbers = FourNumbers[kSteps * 4][kWarps * kWarp];

ASSAY_SIMT void hold(const SimtBlock& block, HeldNumbers& held, unsigned step, const LaneNumbers& made) {
    ASSAY_UNROLL
    for (unsigned four = 0; four < 4; ++four) {
        const unsigned across = four / 2 * 2, i = four % 2 * 2;
        held[step * 4 + four][block.thread()] = {
            {made[across][i], made[across][i + 1], made[across + 1][i], made[across + 1][i + 1]}};
    }
}
ASSAY_SIMT void take(const SimtBlock& block, const HeldNumbers& held, unsigned step, LaneNumbers& made) {
    ASSAY_UNROLL
    for (unsigned four = 0; four < 4; ++four) {
        const FourNumbers numbers = held[step * 4 + four][block.thread()];
        ASSAY_UNROLL
        for (unsigned n = 0; n < 4; ++n) made[four / 2 * 2 + n / 2][four % 2 * 2 + n % 2] = numbers.of[n];
    }
}

/// Adds the products of 32 numbers (`half` 0 or 1) of the warp's rows with eight tokens, group `across` of
/// the step that begins at `own`, to the sums by weight in sums[…][to].
ASSAY_SIMT void multiply_tokens(const SimtBlock& block, const RowDigits& rows, unsigned half,
                                const std::uint32_t* own, unsigned across, WeightSums& sums, unsigned to) {
    std::uint32_t words[4];
    block.load_matrices(words, own + across * 8 * kPitch + half * 8);
    ASSAY_UNROLL
    for (unsigned n = 0; n < 4; ++n) {
        const unsigned left = n / 2, plane = n % 2;
        const std::uint32_t right[2] = {words[2 * plane], words[2 * plane + 1]};
        block.mma_s8(sums[left + plane][to], rows.words[left][half], right);
    }
}

/// multiply_step of any exponents, with all factors, by way of `held`. For a short code it makes one number
/// of the tokens after another.
ASSAY_SIMT void multiply_far(const SimtBlock& block, const RowDigits& rows, const DigitTile& tokens,
                             unsigned step, HeldNumbers& held, LaneNumbers& made) {
    const std::uint32_t* const own = own_row(block, tokens, kBlock) + step * kStep * kPitch;
    const std::int32_t* const exponents = tokens.exponents + step * kStep + first_in_step(block.lane());
    ASSAY_NO_UNROLL
    for (unsigned across = 0; across < 4; ++across) {
        WeightSums sums;
        ASSAY_UNROLL
        for (unsigned i = 0; i < 12; ++i) sums[i / 4][0][i % 4] = 0;
        multiply_tokens(block, rows, 0, own, across, sums, 0);
        multiply_tokens(block, rows, 1, own, across, sums, 0);
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
            const std::int32_t of[3] = {sums[0][0][i], sums[1][0][i], sums[2][0][i]};
            const std::int32_t column = exponent_again(exponents[next_in_step(token_at(across, i))]);
            held[step * 4 + across / 2 * 2 + row_at(i)][block.thread()].of[across % 2 * 2 + i % 2] =
                add_rn(0.0F, finish(sum_of(of), rows.exponents[row_at(i)] + column));
        }
    }
    take(block, held, step, made);
}

/// The products of the warp's rows with the 32 tokens of a step. Returns whether they have the rows' powers
/// of two; without them, all are finite and none is −0. All lanes of a warp do the same.
/// What is held of the step may be lost unless `kKeeps`.
template <bool kKeeps = false>
ASSAY_SIMT bool multiply_step(const SimtBlock& block, const RowDigits& rows, const DigitTile& tokens,
                              unsigned step, HeldNumbers& held, LaneNumbers& made) {
    if (rows.near + tokens.near(step) < kNearPair) {
        LaneNumbers kept;
        if (kKeeps) take(block, held, step, kept);
        multiply_far(block, rows, tokens, step, held, made);
        if (kKeeps) hold(block, held, step, kept);
        return true;
    }
    WeightSums sums;
    begin_sums(sums);
    const std::uint32_t* const own = own_row(block, tokens, kBlock) + step * kStep * kPitch;
    ASSAY_UNROLL
    for (unsigned i = 0; i < 8; ++i) multiply_tokens(block, rows, i / 4, own, i % 4, sums, i % 4);
    const std::int32_t* const factors = tokens.exponents + step * kStep + first_in_step(block.lane());
    ASSAY_UNROLL
    for (unsigned at = 0; at < 16; ++at) {
        const unsigned across = at / 4, i = at % 4;
        const float sum = sum_to_float(sums[0][across][i], sums[1][across][i], sums[2][across][i]);
        made[across][i] = mul_rn(sum, from_bits(factors[next_in_step(token_at(across, i))]));
    }
    return false;
}

/// A lane's numbers of a block of 128 tokens become digits, in the memory that holds them: a step's in its
/// first two fours, so that from kFreeFour on they are free.
inline constexpr unsigned kFreeFour = 2;
struct WeightDigits {
    std::int32_t exponents[2];  // of the lane's rows
    unsigned near;              // the least nearness of the warp's rows

    /// REQUIRES zeros for masked numbers, and in `most` the magnitude of the lane's largest of each row.
    ASSAY_SIMT void make(const SimtBlock& block, HeldNumbers& held, std::uint32_t (&most)[2]) {
        unsigned own_near = 2;
        ASSAY_UNROLL
        for (unsigned row = 0; row < 2; ++row) {
            // Four lanes share a row.
            ASSAY_UNROLL
            for (unsigned lanes = 2; lanes > 0; lanes /= 2) {
                const std::uint32_t other = block.shfl_xor(most[row], lanes);
                most[row] = other > most[row] ? other : most[row];
            }
            // All sums of a row of zeros are zero, so any exponent does; row_exponent's is far.
            exponents[row] = most[row] == 0 ? 0 : row_exponent(most[row], 2);
            const unsigned other = nearness(exponents[row]);
            own_near = other < own_near ? other : own_near;
        }
        near = least_nearness(block, own_near);
        // Of rows that are far they mean nothing.
        const float factors[2] = {power_of_two(-exponents[0]), power_of_two(-exponents[1])};
        ASSAY_NO_UNROLL
        for (unsigned step = 0; step < kSteps; ++step) {
            std::uint32_t words[4][2];
            if (near > 0) {
                ASSAY_UNROLL
                for (unsigned i = 0; i < 4; ++i)
                    near_digits(held[step * 4 + i][block.thread()], factors[i % 2], words[i]);
            } else {
                ASSAY_UNROLL
                for (unsigned i = 0; i < 4; ++i)
                    packing::digits_of(held[step * 4 + i][block.thread()].of, exponents[i % 2], words[i]);
            }
            ASSAY_UNROLL
            for (unsigned plane = 0; plane < 2; ++plane) {
                FourNumbers to;
                ASSAY_UNROLL
                for (unsigned i = 0; i < 4; ++i)
                    to.of[i] = from_bits(static_cast<std::int32_t>(words[i][plane]));
                held[step * 4 + plane][block.thread()] = to;
            }
        }
    }
    /// The left operand of products along a step's tokens.
    static ASSAY_SIMT void take(const SimtBlock& block, const HeldNumbers& held, unsigned step,
                                std::uint32_t (&words)[2][4]) {
        ASSAY_UNROLL
        for (unsigned plane = 0; plane < 2; ++plane) {
            const FourNumbers four = held[step * 4 + plane][block.thread()];
            ASSAY_UNROLL
            for (unsigned i = 0; i < 4; ++i)
                words[plane][i] = static_cast<std::uint32_t>(bits_of(four.of[i]));
        }
    }

private:
    // digits_of for an exponent that is not far. Numbers are rounded to integers, and 128 added, in the low
    // bits of large ones. The first digit is then that byte less 128, and the second the next byte.
    static ASSAY_SIMT void near_digits(const FourNumbers& four, float factor, std::uint32_t (&words)[2]) {
        std::uint32_t bits[4];
        ASSAY_UNROLL
        for (unsigned n = 0; n < 4; ++n)
            bits[n] = static_cast<std::uint32_t>(bits_of(fma_rn(four.of[n], factor, 12582912.0F + 128.0F)));
        const std::uint32_t low = pick_bytes(bits[0], bits[1], 0x5410),
                            high = pick_bytes(bits[2], bits[3], 0x5410);
        words[0] = pick_bytes(low, high, 0x6420) ^ 0x80808080U;
        words[1] = pick_bytes(low, high, 0x7531);
    }
};

/// A lane's sums of its warp's rows: [n-tile of eight numbers of a head][row, number].
using HeadSums = float[8][4];
static_assert(kNumbers == 8 * 8);

/// The number of the head to which the lane's sum [across][i] belongs.
ASSAY_SIMT unsigned number_at(unsigned lane, unsigned across, unsigned i) {
    return across * 8 + lane % 4 * 2 + i % 2;
}

/// Adds the products of a step's weights (`left`) with eight numbers of a head, the first of which is at
/// `own`, to the sums by weight in sums[…][to].
ASSAY_SIMT void multiply_numbers(const SimtBlock& block, unsigned step, const std::uint32_t (&left)[2][4],
                                 const std::uint32_t* own, WeightSums& sums, unsigned to) {
    std::uint32_t words[4];
    block.load_matrices(words, own + step / 2 * 2 * kNumbers * kPitch + step % 2 * 8);
    ASSAY_UNROLL
    for (unsigned n = 0; n < 4; ++n) {
        const std::uint32_t right[2] = {words[n % 2 * 2], words[n % 2 * 2 + 1]};
        block.mma_s8(sums[n / 2 + n % 2][to], left[n / 2], right);
    }
}

/// Adds to `sums` the product of the weights with `count` numbers of a head along a block of 128 tokens.
ASSAY_SIMT void add_block(const SimtBlock& block, const WeightDigits& weights, HeldNumbers& held,
                          const DigitTile& numbers, unsigned count, HeadSums& sums) {
    ASSAY_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
        if (half * 32 >= count) continue;
        const std::uint32_t* const own = own_row(block, numbers, kNumbers) + half * 32 * kPitch;
        const std::int32_t* const factors = numbers.exponents + half * 32 + block.lane() % 4 * 2;
        if (weights.near + numbers.near(half) >= kNearPair) {
            WeightSums products;
            begin_sums(products);
            const auto multiply = [&](unsigned step) {
                std::uint32_t left[2][4];
                weights.take(block, held, step, left);
                ASSAY_UNROLL
                for (unsigned across = 0; across < 4; ++across)
                    multiply_numbers(block, step, left, own + across * 8 * kPitch, products, across);
            };
            // The first step apart, whose sums begin as constants; the others in a loop, for fewer registers.
            multiply(0);
            ASSAY_NO_UNROLL
            for (unsigned step = 1; step < kSteps; ++step) multiply(step);
            const float of_rows[2] = {power_of_two(weights.exponents[0]), power_of_two(weights.exponents[1])};
            ASSAY_UNROLL
            for (unsigned at = 0; at < 16; ++at) {
                const unsigned across = at / 4, i = at % 4;
                const float product = mul_rn(
                    sum_to_float(products[0][across][i], products[1][across][i], products[2][across][i]),
                    from_bits(factors[across * 8 + i % 2]));
                // The product with a power of two is exact: only the sum rounds.
                float& sum = sums[4 * half + across][i];
                sum = fma_rn(product, of_rows[row_at(i)], sum);
            }
            continue;
        }
        // For a short code one number after another, by way of memory.
        ASSAY_NO_UNROLL
        for (unsigned across = 0; across < 4; ++across) {
            WeightSums products;
            ASSAY_UNROLL
            for (unsigned i = 0; i < 12; ++i) products[i / 4][0][i % 4] = 0;
            ASSAY_NO_UNROLL
            for (unsigned step = 0; step < kSteps; ++step) {
                std::uint32_t left[2][4];
                weights.take(block, held, step, left);
                multiply_numbers(block, step, left, own + across * 8 * kPitch, products, 0);
            }
            ASSAY_UNROLL
            for (unsigned i = 0; i < 4; ++i) {
                const std::int32_t of[3] = {products[0][0][i], products[1][0][i], products[2][0][i]};
                const std::int32_t column = exponent_again(factors[across * 8 + i % 2]);
                held[across * 4 + kFreeFour][block.thread()].of[i] =
                    finish(sum_of(of), weights.exponents[row_at(i)] + column);
            }
        }
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            float& sum = sums[4 * half + at / 4][at % 4];
            sum = add_rn(sum, held[at / 4 * 4 + kFreeFour][block.thread()].of[at % 4]);
        }
    }
}

/// The law's lane_sum and lane_dot over a row (contracts/arithmetic/reduce.hpp): 32 chains and a tree. A lane
/// has eight of the chains for each of its two rows.
template <bool kOtherTree = false>
struct LaneSums {
    float parts[2][8];

    ASSAY_SIMT void clear() {
        ASSAY_UNROLL
        for (unsigned i = 0; i < 16; ++i) parts[i / 8][i % 8] = 0.0F;
    }
    /// Gives the sums of both rows to each of the four lanes that share them.
    ASSAY_SIMT void fold(const SimtBlock& block, float (&row_sums)[2]) const {
        ASSAY_UNROLL
        for (unsigned row = 0; row < 2; ++row) {
            float own[4];
            ASSAY_UNROLL
            for (unsigned n = 0; n < 4; ++n) own[n] = add_rn(parts[row][n], parts[row][n + 4]);
            // The chains eight and four further are two lanes and one lane further.
            ASSAY_UNROLL
            for (unsigned lanes = 2; lanes > 0; lanes /= 2) {
                ASSAY_UNROLL
                for (unsigned n = 0; n < 4; ++n) own[n] = add_rn(own[n], block.shfl_down(own[n], lanes));
            }
            const float sum = kOtherTree ? add_rn(add_rn(own[0], own[1]), add_rn(own[2], own[3]))
                                         : add_rn(add_rn(own[0], own[2]), add_rn(own[1], own[3]));
            row_sums[row] = block.shfl(sum, block.lane() / 4 * 4);
        }
    }
};

}  // namespace attention
}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
