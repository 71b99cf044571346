// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/mean_loss.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "contracts/base/wide.hpp"

namespace assay::program {

namespace {

// A magnitude in units of 2^-149, the smallest binary32: 277 bits hold the largest, 320 hold 2^43 of them.
using Magnitude = std::array<std::uint64_t, 5>;

constexpr std::uint32_t kExponent = 0x7f800000U;
constexpr std::uint32_t kFraction = 0x007fffffU;

void add_part(Magnitude& total, std::uint64_t part, std::size_t at) {
    for (; part != 0 && at < total.size(); ++at) {
        total[at] += part;
        part = total[at] < part ? 1 : 0;
    }
}

void add_number(Magnitude& total, std::uint32_t bits) {
    const std::uint32_t exponent = (bits & kExponent) >> 23;
    const std::uint64_t significand = (bits & kFraction) | (exponent > 0 ? kFraction + 1 : 0);
    const std::uint32_t shift = exponent > 0 ? exponent - 1 : 0;
    const base::Uint128 placed = base::Uint128{significand} << (shift % 64);
    add_part(total, static_cast<std::uint64_t>(placed), shift / 64);
    add_part(total, static_cast<std::uint64_t>(placed >> 64), shift / 64 + 1);
}

/// first - second. REQUIRES first >= second.
Magnitude difference(const Magnitude& first, const Magnitude& second) {
    Magnitude result{};
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
        const base::Uint128 taken = base::Uint128{second[i]} + borrow;
        borrow = first[i] < taken ? 1 : 0;
        result[i] = static_cast<std::uint64_t>(first[i] - taken);
    }
    return result;
}

/// Divides in place; returns the remainder.
std::uint64_t divide(Magnitude& value, std::uint64_t by) {
    std::uint64_t rest = 0;
    for (std::size_t i = value.size(); i-- > 0;) {
        const base::Uint128 part = base::Uint128{rest} << 64 | value[i];
        value[i] = static_cast<std::uint64_t>(part / by);
        rest = static_cast<std::uint64_t>(part % by);
    }
    return rest;
}

bool bit(const Magnitude& value, std::size_t at) { return (value[at / 64] >> (at % 64) & 1) != 0; }

std::size_t bits_of(const Magnitude& value) {
    for (std::size_t i = value.size(); i-- > 0;) {
        if (value[i] != 0) return 64 * i + static_cast<std::size_t>(std::bit_width(value[i]));
    }
    return 0;
}

/// Bits of quotient + rest / count to the nearest, ties to even. REQUIRES rest < count.
std::uint32_t rounded(const Magnitude& quotient, std::uint64_t rest, std::uint64_t count) {
    const std::size_t width = bits_of(quotient);
    const std::size_t cut = width > 24 ? width - 24 : 0;
    std::uint32_t significand = 0;
    for (std::size_t i = std::min<std::size_t>(width, 24); i-- > 0;) {
        significand = significand << 1 | (bit(quotient, cut + i) ? 1 : 0);
    }
    bool half = false;   // the first bit that is cut off
    bool below = false;  // any after it
    if (cut > 0) {
        half = bit(quotient, cut - 1);
        for (std::size_t i = 0; i + 1 < cut; ++i) below = below || bit(quotient, i);
        below = below || rest != 0;
    } else {
        half = base::Uint128{rest} * 2 >= count;
        below = base::Uint128{rest} * 2 > count;
    }
    if (half && (below || significand % 2 == 1)) ++significand;
    // The leading one of the significand adds one to the exponent; one that grew to 2^24 adds two.
    return (static_cast<std::uint32_t>(cut) << 23) + significand;
}

}  // namespace

std::uint32_t mean_loss(std::span<const std::uint32_t> losses) {
    Magnitude above{};
    Magnitude below{};
    for (const std::uint32_t bits : losses) {
        if ((bits & kExponent) == kExponent) return kNoLoss;
        add_number((bits >> 31) != 0 ? below : above, bits);
    }
    if (losses.empty()) return kNoLoss;
    const bool negative =
        std::lexicographical_compare(above.rbegin(), above.rend(), below.rbegin(), below.rend());
    Magnitude mean = negative ? difference(below, above) : difference(above, below);
    const std::uint64_t rest = divide(mean, losses.size());
    const std::uint32_t bits = rounded(mean, rest, losses.size());
    return bits == 0 ? 0 : bits | (negative ? 1U << 31 : 0);
}

}  // namespace assay::program
