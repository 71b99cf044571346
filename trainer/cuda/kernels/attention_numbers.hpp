// SPDX-License-Identifier: Apache-2.0
// The arithmetic of fused attention (attention_i16.hpp) for numbers of usual size, in as few instructions as
// they need. Each function tells for which numbers it has the law's bits; kernels have a longer way for
// others.
#pragma once

#include "trainer/cuda/kernels/quotient.hpp"
#include "trainer/cuda/simt/lanes.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {
namespace attention {

/// How far from zero the exponent of a line is: 2 is near, 1 further, 0 far. For a pair of lines with
/// kNearPair or more, multiplication of a sum of digits, which is 0 or at least 1 and below 2^37, by both
/// powers of two is exact: each time 0 or a normal number. (The next factor may still round.)
ASSAY_SIMT unsigned nearness(std::int32_t exponent) {
    if (exponent > 45) return 0;
    return exponent >= -40 ? 2 : exponent >= -86 ? 1 : 0;
}
inline constexpr unsigned kNearPair = 3;

/// The least nearness in the warp. Every lane gets it.
ASSAY_SIMT unsigned least_nearness(const SimtBlock& block, unsigned own) {
    const bool is_far = block.any(own == 0), is_further = block.any(own < 2);
    return is_far ? 0 : is_further ? 1 : 2;
}

/// The exponent of which make_factors may have made a power of two, which has the bits of a larger number.
ASSAY_SIMT std::int32_t exponent_again(std::int32_t made) {
    return made < 1024 ? made : static_cast<std::int32_t>(static_cast<std::uint32_t>(made) >> 23U) - 127;
}

/// Sums with the weight 65,536 begin here: as a float, such a sum is 3 · 2^22 and the sum of the products.
inline constexpr std::int32_t kRaised = 0x4b400000;

/// The float of hi · 2^16 + mid · 2^8 + lo, rounded once, for 32-bit sums of at most 128 products of digits,
/// and raised = kRaised + hi. Its halves, of 23 and of 16 bits, become floats as the low bits of large ones.
/// The upper half loses the 3 · 2^22, and 2^23 that the lower half has too much; only the last sum rounds.
ASSAY_SIMT float sum_to_float(std::int32_t lo, std::int32_t mid, std::int32_t raised) {
    const std::int32_t rest = mid * 256 + lo;
    const float high = fma_rn(from_bits(raised + (rest >> 16)), 65536.0F, -98305.0F * 8388608.0F);
    return add_rn(high, from_bits((rest & 0xffff) | 0x4b000000));
}

/// Below a row's maximum by at most this, exponentials are normal numbers for which quotient() is right.
inline constexpr float kUsualExponent = 62.0F;

/// exp32 without the steps that numbers in [-kUsualExponent, 0] do not need: no limit is reached, and the
/// significand times the power of two is a normal number, so that the power can be added to its exponent.
/// Other numbers give bits that mean nothing.
ASSAY_SIMT float usual_exp32(float x) {
    std::int32_t k = 0;
    const float p = exp_significand<SimtLanes>(x, k);
    return from_bits(SimtLanes::addi(bits_of(p), SimtLanes::shl<23>(k)));
}

}  // namespace attention
}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
