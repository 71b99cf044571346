// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/update_clip.hpp"

#include <algorithm>
#include <bit>

#include "contracts/arithmetic/square_sum.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic {

namespace {

using base::Uint128;

using Uint192 = SquareSum;

void add(Uint192& sum, Uint128 low, std::uint64_t high = 0) {
    sum.low += low;
    sum.high += high + (sum.low < low ? 1U : 0U);
}

/// REQUIRES root < 2^83.
Uint192 square(Uint128 root) {
    const Uint128 upper = root >> 41;
    const Uint128 lower = root & ((Uint128{1} << 41) - 1);
    Uint192 sum;
    add(sum, lower * lower);
    add(sum, (upper * lower) << 42);
    const Uint128 top = upper * upper;  // at 2^82
    add(sum, top << 82, static_cast<std::uint64_t>(top >> 46));
    return sum;
}

bool is_less(const Uint192& a, const Uint192& b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/// The smallest N with N^2 >= sum. REQUIRES sum < 2^164.
Uint128 root_above(const Uint192& sum) {
    Uint128 below = 0;  // every N below it is too small
    for (int bit = 82; bit >= 0; --bit) {
        const Uint128 step = Uint128{1} << bit;
        if (is_less(square(below + step - 1), sum)) below += step;
    }
    return below;
}

constexpr Uint128 kNormEnd = Uint128{1} << 83;

/// floor(bound / 2^sum_exponent), at most 2^83: no norm is beyond that.
Uint128 limit_of(int sum_exponent, float bound) {
    const auto bits = std::bit_cast<std::uint32_t>(bound);
    const std::uint32_t field = bits >> 23;
    ASSAY_CHECK(bits != 0 && field < 255);
    const std::uint32_t fraction = bits & 0x7fffffU;
    const Uint128 digits = field == 0 ? fraction : (fraction | 0x800000U);
    const int exponent = (field == 0 ? 1 : static_cast<int>(field)) - 150 - sum_exponent;
    if (exponent <= -24) return 0;
    if (exponent < 0) return digits >> -exponent;
    if (exponent >= 83) return kNormEnd;
    return std::min(digits << exponent, kNormEnd);
}

}  // namespace

void SquareSum::add(std::int64_t number) {
    const auto size = static_cast<std::uint64_t>(number < 0 ? -number : number);
    arithmetic::add(*this, Uint128{size} * size);
}

std::uint32_t clip_of(int sum_exponent, float bound, const SquareSum& sum) {
    ASSAY_CHECK(sum_exponent >= -64 && sum_exponent <= 0);
    ASSAY_CHECK(sum.high < (std::uint64_t{1} << 36));
    const Uint128 norm = root_above(sum);
    const Uint128 limit = limit_of(sum_exponent, bound);
    if (norm <= limit) return kWholeClip;
    return static_cast<std::uint32_t>((limit * kWholeClip) / norm);
}

std::uint32_t update_clip(int sum_exponent, float bound, std::span<const std::int64_t> update) {
    ASSAY_CHECK(update.size() < (std::uint64_t{1} << 40));
    SquareSum sum;
    for (const std::int64_t number : update) sum.add(number);
    return clip_of(sum_exponent, bound, sum);
}

}  // namespace assay::arithmetic
