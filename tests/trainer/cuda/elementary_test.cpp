// SPDX-License-Identifier: Apache-2.0
// exp, tanh and the rest of kernels against the law's, and the conversions that kernels do their own way.
#include "contracts/arithmetic/elementary.hpp"

#include <cmath>
#include <limits>

#include "contracts/arithmetic/exact_product.hpp"
#include "tests/trainer/cuda/cuda_support.hpp"
#include "trainer/cuda/kernels/fixed_point.hpp"
#include "trainer/cuda/kernels/loss_blocks.hpp"
#include "trainer/cuda/kernels/pointwise.hpp"
#include "trainer/cuda/simt/lanes.hpp"

namespace assay::trainer::cuda {
namespace {
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
bool same(float a, float b) { return bits(a) == bits(b) || (a != a && b != b); }
}  // namespace

TEST_CASE("functions of kernels have the law's bits over all exponents", "[trainer][cuda]") {
    // Every 4,099th of the 2^32 inputs, NaNs and infinities among them.
    bool equal = true;
    for (std::uint64_t i = 0; i < (1ULL << 32); i += 4099) {
        const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(i));
        equal = equal && same(exp32(x), arithmetic::exp32(x)) && same(tanh32(x), arithmetic::tanh32(x)) &&
                bits(pointwise::short_tanh(x)) == bits(arithmetic::tanh32(x)) &&
                same(sigmoid32(x), arithmetic::sigmoid32(x)) && same(log32(x), arithmetic::log32(x)) &&
                same(rsqrt32(x), arithmetic::rsqrt32(x)) &&
                same(silu_slope32(x, 0.25F), arithmetic::silu_slope32(x, 0.25F));
    }
    REQUIRE(equal);
}

TEST_CASE("a row's exponent and its fixed point are the law's without binary64", "[trainer][cuda]") {
    std::mt19937 random(5);
    for (int i = 0; i < 200'000; ++i) {
        const std::uint32_t most = static_cast<std::uint32_t>(random()) % 0x7f800000U;
        for (const int digits : {2, 3}) {
            const std::int32_t exponent = arithmetic::row_exponent(most, digits);
            REQUIRE(row_exponent(most, digits) == exponent);
            // The largest, another below it, near ones, and its negative.
            for (const std::uint32_t size : {most, static_cast<std::uint32_t>(random()) % (most + 1),
                                             most / 2, most - most % 65536, std::uint32_t{0}}) {
                const auto x =
                    std::bit_cast<float>(size | (static_cast<std::uint32_t>(random()) & 0x80000000U));
                if (quantise(x, exponent) != arithmetic::quantise(x, exponent)) {
                    FAIL("bits " << bits(x) << ", exponent " << exponent);
                }
            }
        }
    }
}

TEST_CASE("a sum is finished as the law does it, subnormal and beyond all numbers too", "[trainer][cuda]") {
    std::mt19937_64 random(6);
    for (int i = 0; i < 400'000; ++i) {
        std::int64_t sum = static_cast<std::int64_t>(random() >> (12 + random() % 52));
        if (i % 7 == 0)
            sum = (std::int64_t{1} << (random() % 53)) + static_cast<std::int64_t>(random() % 3) - 1;
        if (random() % 2 == 0) sum = -sum;
        const auto exponent = static_cast<std::int32_t>(random() % 530) - 288;
        if (exponent > 226) continue;
        const std::uint32_t law = bits(arithmetic::finish(sum, exponent));
        if (bits(finish(sum, exponent)) != law) FAIL("sum " << sum << ", exponent " << exponent);
        const std::int32_t one = exponent / 2, other = exponent - one;
        const bool small = is_small(one) && is_small(other);
        if (small && bits(mul_rn(to_float_rn(sum), power_of_two(one, other))) != law)
            FAIL("sum " << sum << ", small exponent " << exponent);
    }
    REQUIRE(bits(finish(0, 3)) == 0);
}

// Sums of so many products of digits, none beyond those of `most`, the largest number's digits.
template <std::size_t kWeights>
void check_round_sum(std::mt19937_64& random, std::int64_t terms) {
    constexpr std::size_t kDigits = kWeights - 1;  // of A
    std::int32_t sums[kWeights] = {};
    const auto draw = [&](std::int64_t most) {
        const auto kind = random() % 6;
        if (kind == 0) return most;
        if (kind == 1) return -most;
        return static_cast<std::int64_t>(random() % (2 * static_cast<std::uint64_t>(most) + 1)) - most;
    };
    // The upper digits' magnitude is at most 127, that of all others 128.
    for (std::size_t a = 0; a < kDigits; ++a) {
        for (std::size_t b = 0; b < 2; ++b) {
            const std::int64_t most = terms * (a + 1 == kDigits ? 127 : 128) * (b == 1 ? 127 : 128);
            sums[a + b] += static_cast<std::int32_t>(draw(most));
        }
    }
    if (bits(round_sum(sums)) != bits(to_float_rn(sum_of(sums))))
        FAIL("sums " << sums[0] << ", " << sums[1] << ", " << sums[2] << " of " << terms << " products");
}

TEST_CASE("sums of digits are rounded once in 32 bits", "[trainer][cuda]") {
    std::mt19937_64 random(7);
    for (int i = 0; i < 200'000; ++i) {
        check_round_sum<3>(random, std::int64_t{1} << (random() % 15));
        check_round_sum<4>(random, std::int64_t{1} << (random() % 11));
    }
    // The upper part of the largest sums, and of their negatives, is a float.
    const std::int64_t two = most_terms<3>() * std::int64_t{32'639} * 32'639;
    const std::int64_t three = most_terms<4>() * std::int64_t{8'355'711} * 32'639;
    for (const std::int64_t upper : {two >> 20, -two >> 20, three >> 24, -three >> 24})
        REQUIRE(std::abs(upper) <= 1 << 24);
    const std::int32_t none[3] = {}, not_one[4] = {-1, 0, 0, 0};
    REQUIRE(bits(round_sum(none)) == 0);
    REQUIRE(round_sum(not_one) == -1.0F);
}

TEST_CASE("quotients by a common divisor are those of a division", "[trainer][cuda]") {
    std::mt19937 random(56);
    const auto number = [&](unsigned first, unsigned exponents) {
        const auto bits = static_cast<std::uint32_t>(random());
        // Among them significands near both ends.
        const std::uint32_t low = bits % 3 == 0 ? bits >> 26U : bits & 0x7fffffU;
        return std::bit_cast<float>((first + bits % exponents) << 23U |
                                    (bits % 2 == 0 ? low : 0x7fffffU - low));
    };
    for (int i = 0; i < 300'000; ++i) {
        const float divisor = number(127, 24), dividend = number(27, 101);
        if (dividend > divisor) continue;
        const CommonDivisor by(divisor, 1.0F / divisor);
        REQUIRE(by.is_easy());
        REQUIRE(std::bit_cast<std::uint32_t>(by.divide(dividend)) ==
                std::bit_cast<std::uint32_t>(dividend / divisor));
    }
    for (const float other : {0.99F, 0x1p25F, INFINITY, std::nanf("")})
        REQUIRE_FALSE(CommonDivisor(other, 1.0F).is_easy());
}

TEST_CASE("conversion to integers is that of a GPU where the law has none", "[trainer][cuda]") {
    REQUIRE(to_int_rn(std::numeric_limits<float>::quiet_NaN()) == 0);
    REQUIRE(to_int_rn(std::numeric_limits<float>::infinity()) == INT32_MAX);
    REQUIRE(to_int_rn(-std::numeric_limits<float>::infinity()) == INT32_MIN);
    REQUIRE(to_int_rn(2.5F) == 2);
    REQUIRE(to_int_rn(-3.5F) == -4);
}

}  // namespace assay::trainer::cuda
