// SPDX-License-Identifier: Apache-2.0
// The tiles of fused attention (attention_i16.hpp). A block of four warps has 64 rows, a warp 16 of them. It
// goes over the other tokens in blocks of 128, in steps of 32. In a step a lane has 16 numbers: two rows,
// eight apart, by eight tokens, four neighbours and the four that lie 16 further. Sums of digits have no
// order, so a lane's own numbers, as digits, are its part of the next product's left operand: nothing changes
// lanes between the two products.
#pragma once

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
    alignas(16) std::int32_t exponents[kBlock];  // of each token, or of each number
};
/// A lane's numbers of a step: [n-tile of eight columns][row, column].
using LaneNumbers = float[4][4];
/// Their sums of digits by weight: 1, 256 and 65,536.
using WeightSums = std::int32_t[3][4][4];

/// The tokens of a lane in a step: number n of them, 0 to 7, after the lane's first.
ASSAY_SIMT unsigned first_in_step(unsigned lane) { return lane % 4 * 4; }
ASSAY_SIMT unsigned next_in_step(unsigned n) { return n / 4 * 16 + n % 4; }
/// The token (0 to 7) and the row to which number [across][i] of a step belongs.
ASSAY_SIMT unsigned token_at(unsigned across, unsigned i) { return across * 2 + i % 2; }
ASSAY_SIMT unsigned row_at(unsigned i) { return i / 2; }

/// Whether multiplication by 2^exponent is exact: a sum of digits, which is 0 or at least 1 and below 2^37,
/// times it is 0 or a normal number. (The next factor may still round.)
ASSAY_SIMT bool is_factor(std::int32_t exponent) { return exponent >= -126 && exponent <= 90; }

/// The exponent of a line. That of a missing line may be anything.
ASSAY_SIMT std::int32_t exponent_of(const Digits& digits, unsigned matrix, unsigned line, unsigned b) {
    return line < digits.place.lines ? digits.exponents[digits.place.exponent(matrix, line, b)] : 0;
}

/// The smallest dividend, other than 0, for which quotient() is right.
ASSAY_SIMT float smallest_usual() { return from_bits((127 - 90) << 23); }

/// a / b, rounded once. REQUIRES `inverse` to be 1 / b rounded once, b in [1, 2^31), and a in
/// [smallest_usual(), 1] or 0. After the first correction the quotient is off by less than its last digit, so
/// the second one gives the law's (Markstein, IBM Journal 1990). Remainders of smaller numbers would lose
/// digits.
ASSAY_SIMT float quotient(float a, float b, float inverse) {
    const float first = mul_rn(a, inverse);
    const float second = fma_rn(fma_rn(-first, b, a), inverse, first);
    return fma_rn(fma_rn(-second, b, a), inverse, second);
}

/// The float of hi · 2^16 + mid · 2^8 + lo, rounded once, for 32-bit sums of at most 128 products of digits.
ASSAY_SIMT float sum_to_float(std::int32_t lo, std::int32_t mid, std::int32_t hi) {
    const std::int32_t rest = mid * 256 + lo;
    return fma_rn(static_cast<float>(hi + (rest >> 16)), 65536.0F, static_cast<float>(rest & 0xffff));
}

/// Calls use(at, value) for each of the 16 numbers whose sums of digits a lane has, with at = 4 · across + i
/// and value = arithmetic::finish of the sum and of the sum of both exponents. exponents[column(n)] is the
/// exponent of the lane's n-th of eight columns; number `at` is in column n = column_of(at).
template <class Column, class ColumnOf, class Use>
ASSAY_SIMT void finish_each(const WeightSums& sums, const std::int32_t (&rows)[2],
                            const std::int32_t* exponents, const Column& column, const ColumnOf& column_of,
                            const Use& use) {
    float factors[8];
    bool usual = is_factor(rows[0]) && is_factor(rows[1]);
    ASSAY_UNROLL
    for (unsigned n = 0; n < 8; ++n) {
        const std::int32_t exponent = exponents[column(n)];
        usual = is_factor(exponent) && usual;
        factors[n] = power_of_two(exponent);
    }
    const float row_factors[2] = {power_of_two(rows[0]), power_of_two(rows[1])};
    if (usual) {
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            const unsigned across = at / 4, i = at % 4;
            const float sum = sum_to_float(sums[0][across][i], sums[1][across][i], sums[2][across][i]);
            use(at, mul_rn(mul_rn(sum, row_factors[row_at(i)]), factors[column_of(at)]));
        }
    } else {
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            const unsigned across = at / 4, i = at % 4;
            const std::int32_t of[3] = {sums[0][across][i], sums[1][across][i], sums[2][across][i]};
            use(at, finish(sum_of(of), rows[row_at(i)] + exponents[column(column_of(at))]));
        }
    }
}

/// The address of the row that a lane passes to load_matrices, for two planes of eight lines with eight words
/// each, in two halves. The planes are `lines` lines apart.
ASSAY_SIMT const std::uint32_t* own_row(const SimtBlock& block, const DigitTile& tile, unsigned lines) {
    const unsigned lane = block.lane();
    return tile.words + (lane / 16 * lines + lane % 8) * kPitch + lane / 8 % 2 * 4;
}

/// A warp's 16 rows as the left operand of products along a head's numbers.
struct RowDigits {
    std::uint32_t words[2][2][4];  // [plane][32 numbers][word]
    std::int32_t exponents[2];     // of the lane's rows

    ASSAY_SIMT void load(const SimtBlock& block, const Digits& digits, unsigned matrix, unsigned first) {
        const unsigned own = first + block.lane() / 4;
        ASSAY_UNROLL
        for (unsigned i = 0; i < 16; ++i) {
            const unsigned plane = i / 8, half = i / 4 % 2, word = i % 4, row = own + word % 2 * 8;
            const unsigned at = plane * kPieceWords + half * 8 + block.lane() % 4 + word / 2 * 4;
            words[plane][half][word] =
                row < digits.place.lines ? digits.words[digits.place.first_word(matrix, row, 0) + at] : 0U;
        }
        ASSAY_UNROLL
        for (unsigned i = 0; i < 2; ++i) exponents[i] = exponent_of(digits, matrix, own + 8 * i, 0);
    }
};

/// Each thread copies the exponent of a line: 0 for a missing line.
ASSAY_SIMT void copy_exponent(const SimtBlock& block, const Digits& digits, unsigned matrix, unsigned line,
                              unsigned b, DigitTile& to) {
    static_assert(kWarps * kWarp == kBlock);
    const bool valid = line < digits.place.lines;
    block.copy4(&to.exponents[block.thread()],
                digits.exponents + (valid ? digits.place.exponent(matrix, line, b) : 0), valid);
}

/// Copies the digits of 128 tokens by token. A lane's four of 16 tokens go to rows 2t and 2t + 1, and eight
/// further, so that a lane's columns of a product are its own tokens.
ASSAY_SIMT void copy_tokens(const SimtBlock& block, const Digits& digits, unsigned matrix, unsigned b,
                            DigitTile& to) {
    const unsigned own = block.thread() / 8, chunk = block.thread() % 8, first = b * kBlock + own;
    const unsigned row = own % 4 / 2 * 8 + own / 4 * 2 + own % 2;
    const std::uint32_t* const from = digits.words + digits.place.first_word(matrix, first, 0) + chunk * 4;
    std::uint32_t* const at = to.words + (chunk / 4 * kBlock + row) * kPitch + chunk % 4 * 4;
    const std::uint64_t pitch = 16 * digits.place.line_words();
    ASSAY_UNROLL
    for (unsigned i = 0; i < kBlock / 16; ++i) {
        const bool valid = first + 16 * i < digits.place.lines;
        block.copy16(at + 16 * i * kPitch, valid ? from + i * pitch : digits.words, valid);
    }
    copy_exponent(block, digits, matrix, b * kBlock + block.thread(), 0, to);
}

/// Copies the digits of a head's numbers along a block of 128 tokens.
ASSAY_SIMT void copy_numbers(const SimtBlock& block, const Digits& digits, unsigned matrix, unsigned b,
                             DigitTile& to) {
    const unsigned own = block.thread() / 16, chunk = block.thread() % 16;
    const std::uint32_t* const from = digits.words + digits.place.first_word(matrix, own, b) + chunk * 4;
    std::uint32_t* const at = to.words + (chunk / 4 * kNumbers + own) * kPitch + chunk % 4 * 4;
    const std::uint64_t pitch = 8 * digits.place.line_words();
    const bool is_piece = chunk / 8 * kPieceWords < digits.place.block_words();
    ASSAY_UNROLL
    for (unsigned i = 0; i < kNumbers / 8; ++i) {
        const bool valid = own + 8 * i < digits.place.lines && is_piece;
        block.copy16(at + 8 * i * kPitch, valid ? from + i * pitch : digits.words, valid);
    }
    copy_exponent(block, digits, matrix, block.thread(), b, to);
}

/// The products of the warp's rows with the 32 tokens of a step.
ASSAY_SIMT void multiply_step(const SimtBlock& block, const RowDigits& rows, const DigitTile& tokens,
                              unsigned step, LaneNumbers& made) {
    WeightSums sums;
    ASSAY_UNROLL
    for (unsigned i = 0; i < 48; ++i) sums[i / 16][i / 4 % 4][i % 4] = 0;
    const std::uint32_t* const own = own_row(block, tokens, kBlock) + step * kStep * kPitch;
    ASSAY_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
        const unsigned half = i / 4, across = i % 4;
        std::uint32_t words[4];
        block.load_matrices(words, own + across * 8 * kPitch + half * 8);
        ASSAY_UNROLL
        for (unsigned n = 0; n < 4; ++n) {
            const unsigned left = n / 2, plane = n % 2;
            const std::uint32_t right[2] = {words[2 * plane], words[2 * plane + 1]};
            block.mma_s8(sums[left + plane][across], rows.words[left][half], right);
        }
    }
    finish_each(
        sums, rows.exponents, tokens.exponents + step * kStep + first_in_step(block.lane()),
        [](unsigned n) { return next_in_step(n); }, [](unsigned at) { return token_at(at / 4, at % 4); },
        [&](unsigned at, float number) { made[at / 4][at % 4] = add_rn(0.0F, number); });
}

/// The numbers of each lane of a block of 128 tokens, held in shared memory while their largest is searched:
/// [step, at][thread]. In registers they would take 64 of them, and separate code for each step.
using HeldNumbers = float[kSteps * 16][kWarps * kWarp];

/// A lane's numbers of a block of 128 tokens as digits, with the exponent of each of its two rows.
struct WeightDigits {
    std::uint32_t words[kBlock / 16][2][2];  // [16 tokens][row][plane]
    std::int32_t exponents[2];               // of the lane's rows

    /// REQUIRES zeros for masked numbers, and in `most` the magnitude of the lane's largest of each row.
    ASSAY_SIMT void make(const SimtBlock& block, const HeldNumbers& numbers, std::uint32_t (&most)[2]) {
        ASSAY_UNROLL
        for (unsigned row = 0; row < 2; ++row) {
            // Four lanes share a row.
            ASSAY_UNROLL
            for (unsigned lanes = 2; lanes > 0; lanes /= 2) {
                const std::uint32_t other = block.shfl_xor(most[row], lanes);
                most[row] = other > most[row] ? other : most[row];
            }
            // All sums of a row of zeros are zero, so any exponent does; row_exponent's is no factor.
            exponents[row] = most[row] == 0 ? 0 : row_exponent(most[row], 2);
        }
        ASSAY_UNROLL
        for (unsigned i = 0; i < kBlock / 16 * 2; ++i) {
            const unsigned group = i / 2, row = i % 2;
            float four[4];
            ASSAY_UNROLL
            for (unsigned n = 0; n < 4; ++n)
                four[n] = numbers[group * 8 + n / 2 * 4 + 2 * row + n % 2][block.thread()];
            packing::digits_of(four, exponents[row], words[group][row]);
        }
    }
};

/// A lane's sums of its warp's rows: [n-tile of eight numbers of a head][row, number].
using HeadSums = float[8][4];
static_assert(kNumbers == 8 * 8);

/// The number of the head to which the lane's sum [across][i] belongs.
ASSAY_SIMT unsigned number_at(unsigned lane, unsigned across, unsigned i) {
    return across * 8 + lane % 4 * 2 + i % 2;
}

/// Adds to `sums` the product of the weights with `count` numbers of a head along a block of 128 tokens.
ASSAY_SIMT void add_block(const SimtBlock& block, const WeightDigits& weights, const DigitTile& numbers,
                          unsigned count, HeadSums& sums) {
    ASSAY_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
        if (half * 32 >= count) continue;
        WeightSums products;
        ASSAY_UNROLL
        for (unsigned i = 0; i < 48; ++i) products[i / 16][i / 4 % 4][i % 4] = 0;
        const std::uint32_t* const own = own_row(block, numbers, kNumbers) + half * 32 * kPitch;
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4 * kSteps; ++i) {
            const unsigned step = i / 4, across = i % 4;
            std::uint32_t words[4];
            block.load_matrices(words, own + (step / 2 * 2 * kNumbers + across * 8) * kPitch + step % 2 * 8);
            ASSAY_UNROLL
            for (unsigned n = 0; n < 4; ++n) {
                const unsigned left = n / 2, plane = n % 2;
                const std::uint32_t of[4] = {
                    weights.words[2 * step][0][left], weights.words[2 * step][1][left],
                    weights.words[2 * step + 1][0][left], weights.words[2 * step + 1][1][left]};
                const std::uint32_t right[2] = {words[2 * plane], words[2 * plane + 1]};
                block.mma_s8(products[left + plane][across], of, right);
            }
        }
        finish_each(
            products, weights.exponents, numbers.exponents + half * 32 + block.lane() % 4 * 2,
            [](unsigned n) { return n / 2 * 8 + n % 2; }, [](unsigned at) { return at / 4 * 2 + at % 2; },
            [&](unsigned at, float number) {
                float& sum = sums[4 * half + at / 4][at % 4];
                sum = add_rn(sum, number);
            });
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
