// SPDX-License-Identifier: Apache-2.0
// The law's fixed point for products of profile i16 (contracts/arithmetic/exact_product.hpp), in binary32
// only. Powers of two come as two factors, so that at most the last multiplication rounds.
#pragma once

#include <cstdint>

#include "trainer/cuda/simt/simt.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// 2^exponent. REQUIRES -126 <= exponent <= 127.
ASSAY_SIMT float power_of_two(std::int32_t exponent) { return from_bits((exponent + 127) << 23); }

/// x · 2^exponent, rounded once. REQUIRES exponent <= 254; and either |x| < 2^53 that is 0 or at least 1, or
/// a result that is finite or below 2^-126. Then the first factor loses no bit that matters, and exponents
/// below -252 give zero.
ASSAY_SIMT float scaled(float x, std::int32_t exponent) {
    const std::int32_t held = exponent < -252 ? -252 : exponent;
    const std::int32_t first = held < -126 ? -126 : held > 127 ? 127 : held;
    return mul_rn(mul_rn(x, power_of_two(first)), power_of_two(held - first));
}

/// arithmetic::row_exponent.
ASSAY_SIMT std::int32_t row_exponent(std::uint32_t max_bits, int digits) {
    const std::uint32_t field = (max_bits + (digits == 2 ? 0x10100U : 0x10101U)) >> 23U;
    return static_cast<std::int32_t>(field > 1 ? field : 1U) - (digits == 2 ? 141 : 149);
}

/// arithmetic::quantise. Numbers that the scaling flushes to zero are below half a unit. A NaN becomes 0.
ASSAY_SIMT std::int32_t quantise(float x, std::int32_t exponent) { return to_int_rn(scaled(x, -exponent)); }

/// The total of sums of digits with weights 1, 256 and so on.
template <unsigned kWeights>
ASSAY_SIMT std::int64_t sum_of(const std::int32_t (&digits)[kWeights]) {
    std::int64_t sum = digits[0];
    ASSAY_UNROLL
    for (unsigned weight = 1; weight < kWeights; ++weight)
        sum += std::int64_t{digits[weight]} * (std::int32_t{1} << 8 * weight);
    return sum;
}

/// arithmetic::finish.
ASSAY_SIMT float finish(std::int64_t sum, std::int32_t exponent) {
    return scaled(to_float_rn(sum), exponent);
}

/// The most products of digits in each sum that round_sum() takes. With A of two digits that is every block.
template <unsigned kWeights>
ASSAY_BOTH constexpr unsigned most_terms() {
    return kWeights == 3 ? 16'384 : 1'024;
}

/// The float of sum_of(digits), rounded once, in 32 bits. The total's upper part, at most 2^24, and its lower
/// part of 20 or 24 bits are floats, so only their sum is rounded. REQUIRES sums of at most
/// most_terms<kWeights>() products of digits of numbers that quantise() made (digit_limit in
/// contracts/arithmetic/exact_product.hpp).
template <unsigned kWeights>
ASSAY_SIMT float round_sum(const std::int32_t (&digits)[kWeights]) {
    static_assert(kWeights == 3 || kWeights == 4);
    if constexpr (kWeights == 3) {
        constexpr std::int32_t kTwoTo23 = 0x4b000000;  // its bits: a float whose last digit is 1
        const std::int32_t rest = digits[0] + ((digits[1] & 0xfff) << 8) + ((digits[2] & 0xf) << 16);
        const std::int32_t upper = (digits[1] >> 12) + (digits[2] >> 4) + (rest >> 20);
        const float lower = sub_rn(from_bits((rest & 0xfffff) | kTwoTo23), 8388608.0F);
        return fma_rn(static_cast<float>(upper), 1048576.0F, lower);
    } else {
        const std::int32_t rest = digits[0] + ((digits[1] & 0xffff) << 8) + ((digits[2] & 0xff) << 16);
        const std::int32_t upper = digits[3] + (digits[1] >> 16) + (digits[2] >> 8) + (rest >> 24);
        return fma_rn(static_cast<float>(upper), 16777216.0F, static_cast<float>(rest & 0xffffff));
    }
}

/// Whether an exponent's magnitude is so small that the power of two of the sum of two such is a normal
/// binary32.
ASSAY_SIMT bool is_small(std::int32_t exponent) { return exponent >= -60 && exponent <= 60; }

/// 2^(one + other). REQUIRES is_small() of both.
ASSAY_SIMT float power_of_two(std::int32_t one, std::int32_t other) {
    return from_bits(((one + 127) << 23) + (other << 23));
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
