// SPDX-License-Identifier: Apache-2.0
// binary16 (IEEE 754, also called FP16) as integers, for codecs of updates (contracts/program/strategies) and
// their kernels: how an update of two bytes per parameter is rounded, and the integers that it stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace assay::arithmetic {

/// Sum exponents at which every finite binary16 is a whole number below 2^62: its least bit is 2^-24, its
/// largest value is below 2^16.
inline constexpr int kLeastHalfExponent = -46;
inline constexpr int kMostHalfExponent = -24;

/// x rounded to binary16, to nearest, ties to even, subnormal numbers kept; a zero is +0 (the bits 0).
/// Nothing when x is not finite or rounds beyond 65504.
std::optional<std::uint16_t> half_of(float x);

/// The binary16 `bits` as a whole number of 2^sum_exponent, exactly. Nothing for bits that half_of never
/// gives: an infinity, a NaN, -0. REQUIRES kLeastHalfExponent <= sum_exponent <= kMostHalfExponent.
std::optional<std::int64_t> half_value(std::uint16_t bits, int sum_exponent);

/// The binary16 whose value is `value` · 2^sum_exponent; nothing when there is none. The inverse of
/// half_value, on the same exponents.
std::optional<std::uint16_t> half_with_value(std::int64_t value, int sum_exponent);

/// update[i] = half_value(half_of(start[i] - end[i])): the difference is one binary32 operation. False (a
/// diverged slot; `update` is then unspecified) when a difference has no binary16. REQUIRES the exponents of
/// half_value and equal sizes.
[[nodiscard]] bool half_finalise(int sum_exponent, std::span<const float> start, std::span<const float> end,
                                 std::span<std::int64_t> update);

}  // namespace assay::arithmetic
