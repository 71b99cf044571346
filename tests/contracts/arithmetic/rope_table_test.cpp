// SPDX-License-Identifier: Apache-2.0
// The binary64 functions behind the rotary table, and the table itself, against long double.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

#include "contracts/arithmetic/double_word.hpp"
#include "contracts/arithmetic/rope.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::arithmetic;

long double value(DoubleWord x) { return static_cast<long double>(x.hi) + static_cast<long double>(x.lo); }

// Distance of `got` from `exact` in units of the last place of binary32.
double ulps(float got, long double exact) {
    int exponent = 0;
    std::frexp(exact, &exponent);
    const long double ulp = std::ldexp(1.0L, std::max(exponent - 24, -149));
    return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / ulp);
}
}  // namespace

TEST_CASE("double words hold what binary64 drops") {
    const DoubleWord sum = two_sum(1.0, 0x1p-80);
    CHECK((sum.hi == 1.0 && sum.lo == 0x1p-80));
    const DoubleWord product = two_product(1.0 + 0x1p-52, 1.0 - 0x1p-52);
    CHECK((product.hi == 1.0 && product.lo == -0x1p-104));
    const DoubleWord third = divide({1.0, 0.0}, {3.0, 0.0});
    CHECK(third.hi == 1.0 / 3.0);
    CHECK(third.lo == 0x1.5555555555555p-56);
    const DoubleWord one = multiply(third, {3.0, 0.0});
    CHECK(one.hi == 1.0);
    CHECK(std::fabs(one.lo) < 0x1p-104);
}

TEST_CASE("powers of the base are right to 88 bits and more") {
    CHECK(inverse_power(10000.0, 0, 32).hi == 1.0);
    CHECK(inverse_power(10000.0, 0, 32).lo == 0.0);
    double worst = 0;
    for (const double base : {1.0, 1.5, 2.0, 100.0, 10000.0, 500000.0, 1e6, 0x1.fffffffffffffp63}) {
        for (const std::uint32_t half : {1U, 3U, 16U, 32U, 40U, 64U, 128U}) {
            for (std::uint32_t i = 0; i <= half; ++i) {
                // half roots times base^i are 1; the base comes in whenever it is due, so nothing overflows.
                const DoubleWord root = inverse_power(base, i, half);
                DoubleWord ratio{1.0, 0.0};
                std::uint32_t due = 0;
                for (std::uint32_t k = 0; k < half; ++k) {
                    ratio = multiply(ratio, root);
                    due += i;
                    if (due < half) continue;
                    ratio = multiply(ratio, {base, 0.0});
                    due -= half;
                }
                worst = std::max(worst, std::fabs((ratio.hi - 1.0) + ratio.lo) / half);
            }
        }
    }
    std::printf("inverse_power: largest relative error of a root 2^%.1f\n", std::log2(worst));
    CHECK(worst < 0x1p-88);
}

TEST_CASE("sine and cosine of a double word keep their relative accuracy beside every multiple of pi/2") {
    double worst = 0;
    for (std::uint32_t i = 0; i < 200'000; ++i) {
        const double angle = static_cast<double>(i) * 0.0625 * 1.0009765625;
        const SinCos got = sin_cos({angle, 0.0});
        const auto exact = static_cast<long double>(angle);
        // long double's own argument is exact here; its functions are right to about 2^-63.
        const long double sin = std::sin(exact);
        const long double cos = std::cos(exact);
        worst =
            std::max(worst, static_cast<double>(std::fabs((static_cast<long double>(got.cos) - cos) / cos)));
        if (i == 0) continue;
        worst =
            std::max(worst, static_cast<double>(std::fabs((static_cast<long double>(got.sin) - sin) / sin)));
    }
    std::printf("sin_cos: largest relative error 2^%.2f\n", std::log2(worst));
    CHECK(worst < 0x1p-51);
    CHECK(sin_cos({0.0, 0.0}).sin == 0.0);
    CHECK(sin_cos({0.0, 0.0}).cos == 1.0);
}

TEST_CASE("the rotary table holds correctly rounded numbers") {
    double worst = 0;
    std::uint64_t entries = 0;
    for (const double theta : {10000.0, 500000.0, 1.0}) {
        for (const std::uint64_t dim : {2U, 64U, 96U}) {
            constexpr std::uint64_t kTokens = 2048;
            const std::uint64_t half = dim / 2;
            std::vector<float> cos(kTokens * half);
            std::vector<float> sin(kTokens * half);
            rope_table(kTokens, dim, theta, cos, sin);
            for (std::uint64_t t = 0; t < kTokens; ++t) {
                for (std::uint64_t i = 0; i < half; ++i) {
                    const long double angle = static_cast<long double>(t) *
                                              value(inverse_power(theta, static_cast<std::uint32_t>(i),
                                                                  static_cast<std::uint32_t>(half)));
                    worst = std::max(worst, ulps(cos[t * half + i], std::cos(angle)));
                    worst = std::max(worst, ulps(sin[t * half + i], std::sin(angle)));
                    entries += 2;
                }
            }
        }
    }
    std::printf("rotary table: largest error %.6f ulp over %llu entries\n", worst,
                static_cast<unsigned long long>(entries));
    // Half an ulp is the rounding; the rest is long double's error in the angle, below 2^-52, beside zeros.
    CHECK(worst < 0.501);
}

TEST_CASE("the rotary table has the values of an independent computation with 60 digits") {
    struct Known {
        std::uint64_t position;
        std::uint64_t pair;
        float cos;
        float sin;
    };
    // mpmath, 200 bits: cos(t · 500000^(−2i/8)), rounded to binary32.
    constexpr Known kKnown[] = {
        {1, 1, 0x1.ffa354p-1F, 0x1.33fefap-5F},       {100000, 0, -0x1.ffac38p-1F, 0x1.24daaap-5F},
        {99999, 1, -0x1.fe665ep-1F, -0x1.4393bcp-4F}, {65537, 2, 0x1.9ee71cp-8F, -0x1.fffd60p-1F},
        {31415, 3, -0x1.98b2eep-4F, 0x1.fd71e4p-1F},  {710, 0, 0x1p+0F, 0x1.f9bd04p-15F},
        {52174, 0, 0x1.719a48p-18F, -0x1p+0F},        {355, 0, -0x1p+0F, -0x1.f9bd04p-16F},
    };
    std::vector<float> cos(100'001 * 4);
    std::vector<float> sin(cos.size());
    rope_table(100'001, 8, 500000.0, cos, sin);
    for (const Known& known : kKnown) {
        INFO(known.position << ", " << known.pair);
        CHECK(cos[known.position * 4 + known.pair] == known.cos);
        CHECK(sin[known.position * 4 + known.pair] == known.sin);
    }
    CHECK((cos[0] == 1.0F && sin[0] == 0.0F));
}

TEST_CASE("rotary tables of usual shapes are, entry by entry, the correctly rounded ones") {
    // FNV-1a over the bits of cosines, then sines, of 4,096 positions for each shape. The number was computed
    // with mpmath at 140 bits from the formula alone.
    std::uint64_t hash = 1469598103934665603ULL;
    for (const double theta : {10000.0, 500000.0}) {
        for (const std::uint64_t dim : {64U, 96U, 128U}) {
            std::vector<float> cos(4096 * dim / 2);
            std::vector<float> sin(cos.size());
            rope_table(4096, dim, theta, cos, sin);
            for (const std::vector<float>* table : {&cos, &sin}) {
                for (const float x : *table) {
                    hash = (hash ^ std::bit_cast<std::uint32_t>(x)) * 1099511628211ULL;
                }
            }
        }
    }
    CHECK(hash == 0x34bb8ae1248e5fdeULL);
}
