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

/// For exponents of at most this magnitude, the power of two of the sum of two is a normal binary32.
inline constexpr std::int32_t kSmallExponent = 60;

/// finish() for the sum of two exponents of magnitude at most kSmallExponent: one factor is enough.
ASSAY_SIMT float finish_small(std::int64_t sum, std::int32_t exponent) {
    return mul_rn(to_float_rn(sum), power_of_two(exponent));
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
