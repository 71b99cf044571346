// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/update.hpp"

#include <bit>
#include <cmath>
#include <vector>

#include "contracts/base/check.hpp"

namespace assay::arithmetic {

namespace {
// 2^exponent as binary64, for exponents of normal numbers.
double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// Nearest integer, ties to even, of |x| < 2^62. Below 2^52, adding 2^52 away from zero leaves no bits for a
// fraction; above it a binary64 is an integer already.
std::int64_t nearest(double x) {
    constexpr double kIntegral = 4503599627370496.0;
    const double magic = std::copysign(kIntegral, x);
    return static_cast<std::int64_t>(std::fabs(x) < kIntegral ? (x + magic) - magic : x);
}

int bit_width(base::Uint128 x) {
    const auto high = static_cast<std::uint64_t>(x >> 64);
    const auto low = static_cast<std::uint64_t>(x);
    return static_cast<int>(high != 0 ? 64U + static_cast<unsigned>(std::bit_width(high))
                                      : static_cast<unsigned>(std::bit_width(low)));
}
}  // namespace

bool update_finalise(int sum_exponent, std::span<const float> start, std::span<const float> end,
                     std::span<std::int64_t> update) {
    ASSAY_CHECK(start.size() == end.size() && start.size() == update.size());
    ASSAY_CHECK(sum_exponent >= -64 && sum_exponent <= 0);
    const double scale = power_of_two(-sum_exponent);
    const double limit = power_of_two(62);
    for (std::size_t i = 0; i < start.size(); ++i) {
        const double x = (static_cast<double>(start[i]) - static_cast<double>(end[i])) * scale;
        if (!(std::fabs(x) < limit)) return false;
        update[i] = nearest(x);
    }
    return true;
}

float merged_value(base::Int128 sum, std::uint64_t total_weight, int sum_exponent) {
    ASSAY_CHECK(total_weight >= 1 && sum_exponent >= -64 && sum_exponent <= 0);
    if (sum == 0) return 0.0F;
    const bool negative = sum < 0;
    base::Uint128 rest =
        negative ? base::Uint128{0} - static_cast<base::Uint128>(sum) : static_cast<base::Uint128>(sum);
    // Long division until the quotient has at least 26 bits: 24 of the result, one to round, and the
    // remainder, if any, makes the last one sticky.
    base::Uint128 quotient = rest / total_weight;
    rest %= total_weight;
    int exponent = sum_exponent;
    while (bit_width(quotient) < 26) {
        rest <<= 1;
        quotient <<= 1;
        if (rest >= total_weight) {
            rest -= total_weight;
            quotient |= 1U;
        }
        --exponent;
    }
    bool sticky = rest != 0;
    const int surplus = bit_width(quotient) - 26;
    if (surplus > 0) {
        sticky = sticky || (quotient & ((base::Uint128{1} << surplus) - 1)) != 0;
        quotient >>= surplus;
        exponent += surplus;
    }
    // 26 bits, one of them sticky: 27 bits are exact in binary64, whose conversion rounds once.
    const auto digits = static_cast<double>((static_cast<std::uint64_t>(quotient) << 1) | (sticky ? 1U : 0U));
    const auto magnitude = static_cast<float>(digits * power_of_two(exponent - 1));
    return negative ? -magnitude : magnitude;
}

void merge_updates(int sum_exponent, std::span<const WeightedUpdate> updates, std::span<float> g) {
    for (const WeightedUpdate& one : updates) ASSAY_CHECK(one.update.size() == g.size());
    merge_cut(sum_exponent, updates, 0, g);
}

bool is_in_range(const WeightedUpdate& one) {
    return one.weight >= 1 && one.weight <= (1ULL << 32) && one.clip <= kWholeClip;
}

MergeFactors merge_factors(std::span<const WeightedUpdate> updates) {
    MergeFactors out;
    bool clipped = false;
    for (const WeightedUpdate& one : updates) {
        ASSAY_CHECK(is_in_range(one));
        out.total += one.weight;
        clipped = clipped || one.clip != kWholeClip;
    }
    // Where nothing is clipped the factor of both sums goes.
    for (const WeightedUpdate& one : updates)
        out.factors.push_back(static_cast<base::Int128>(one.weight) * (clipped ? one.clip : 1U));
    if (clipped) out.total *= kWholeClip;
    return out;
}

void merge_cut(int sum_exponent, std::span<const WeightedUpdate> updates, std::uint64_t first,
               std::span<float> g) {
    ASSAY_CHECK(!updates.empty() && updates.size() <= 1024);
    for (const WeightedUpdate& one : updates) {
        ASSAY_CHECK(first <= one.update.size() && g.size() <= one.update.size() - first);
    }
    const MergeFactors merge = merge_factors(updates);
    for (std::size_t i = 0; i < g.size(); ++i) {
        base::Int128 sum = 0;  // at most 2^10 · 2^32 · 2^16 · 2^62 in magnitude
        for (std::size_t k = 0; k < updates.size(); ++k)
            sum += static_cast<base::Int128>(updates[k].update[first + i]) * merge.factors[k];
        g[i] = merged_value(sum, merge.total, sum_exponent);
    }
}

void outer_nesterov(OuterCoefficients c, std::span<const float> g, std::span<float> w, std::span<float> m) {
    ASSAY_CHECK(g.size() == w.size() && g.size() == m.size());
    for (std::size_t i = 0; i < g.size(); ++i) {
        m[i] = (c.momentum * m[i]) + g[i];
        w[i] = w[i] - c.learning_rate * (g[i] + (c.momentum * m[i]));
    }
}

}  // namespace assay::arithmetic
