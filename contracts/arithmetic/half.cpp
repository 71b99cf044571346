// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/half.hpp"

#include <bit>

#include "contracts/base/check.hpp"

namespace assay::arithmetic {

namespace {
constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::uint32_t kBeyond = 0x477ff000;       // 65520: half way to the number after the last
constexpr std::uint32_t kLeastNormal = 0x38800000;  // 2^-14
constexpr std::uint32_t kHiddenBit = 0x800000;
constexpr std::uint16_t kSign = 0x8000;
constexpr std::uint16_t kNotFinite = 0x7c00;

// `value` / 2^shift, to nearest, ties to even.
std::uint32_t shifted(std::uint32_t value, unsigned shift) {
    const std::uint32_t quotient = value >> shift;
    const std::uint32_t rest = value & ((1U << shift) - 1);
    const std::uint32_t middle = 1U << (shift - 1);
    return quotient + (rest > middle || (rest == middle && (quotient & 1U) != 0) ? 1U : 0U);
}

// Bits of a binary16 without its sign from those of a binary32 below kBeyond.
std::uint32_t rounded(std::uint32_t magnitude) {
    if (magnitude >= kLeastNormal) return shifted(magnitude - (112U << 23), 13);  // another bias
    const std::uint32_t exponent = magnitude >> 23;
    if (exponent < 102) return 0;  // below 2^-25, half of the least subnormal number
    return shifted((magnitude & (kHiddenBit - 1)) | kHiddenBit, 126 - exponent);
}
}  // namespace

std::optional<std::uint16_t> half_of(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t magnitude = bits & kMagnitude;
    if (magnitude >= kBeyond) return std::nullopt;
    const std::uint32_t half = rounded(magnitude);
    const std::uint32_t sign = half != 0 && bits != magnitude ? kSign : 0U;
    return static_cast<std::uint16_t>(half | sign);
}

std::optional<std::int64_t> half_value(std::uint16_t bits, int sum_exponent) {
    ASSAY_CHECK(sum_exponent >= kLeastHalfExponent && sum_exponent <= kMostHalfExponent);
    if ((bits & kNotFinite) == kNotFinite || bits == kSign) return std::nullopt;
    const int exponent = (bits & kNotFinite) >> 10;
    const std::int64_t fraction = bits & 0x3ff;
    const std::int64_t significand = exponent == 0 ? fraction : fraction | 0x400;
    const int least = exponent == 0 ? -24 : exponent - 25;
    const std::int64_t magnitude = significand << (least - sum_exponent);
    return (bits & kSign) != 0 ? -magnitude : magnitude;
}

std::optional<std::uint16_t> half_with_value(std::int64_t value, int sum_exponent) {
    ASSAY_CHECK(sum_exponent >= kLeastHalfExponent && sum_exponent <= kMostHalfExponent);
    const auto bits = static_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = value < 0 ? std::uint64_t{0} - bits : bits;
    const int to_least = -24 - sum_exponent;
    std::uint32_t half = 0;
    if (magnitude != 0) {
        const int top = static_cast<int>(std::bit_width(magnitude)) - 1;  // of the leading bit
        const int exponent = top + sum_exponent + 15;                     // as binary16 says it
        if (exponent >= 31) return std::nullopt;
        const int drop = exponent >= 1 ? top - 10 : to_least;
        const std::uint64_t significand = drop >= 0 ? magnitude >> drop : magnitude << -drop;
        half = exponent >= 1 ? (static_cast<std::uint32_t>(exponent) << 10) | (significand & 0x3ffU)
                             : static_cast<std::uint32_t>(significand);
        if (value < 0) half |= kSign;
    }
    const auto found = static_cast<std::uint16_t>(half);
    return half_value(found, sum_exponent) == value ? std::optional(found) : std::nullopt;
}

bool half_finalise(int sum_exponent, std::span<const float> start, std::span<const float> end,
                   std::span<std::int64_t> update) {
    ASSAY_CHECK(start.size() == end.size() && start.size() == update.size());
    for (std::size_t i = 0; i < start.size(); ++i) {
        const auto half = half_of(start[i] - end[i]);
        if (!half) return false;
        update[i] = *half_value(*half, sum_exponent);
    }
    return true;
}

}  // namespace assay::arithmetic
