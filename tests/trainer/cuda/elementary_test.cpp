// SPDX-License-Identifier: Apache-2.0
// exp, tanh and the rest of kernels against the law's, and the conversions that kernels do their own way.
#include "contracts/arithmetic/elementary.hpp"

#include <cmath>
#include <limits>

#include "contracts/arithmetic/exact_product.hpp"
#include "tests/trainer/cuda/cuda_support.hpp"
#include "trainer/cuda/kernels/fixed_point.hpp"
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
        const bool small = exponent >= -2 * kSmallExponent && exponent <= 2 * kSmallExponent;
        if (small && bits(finish_small(sum, exponent)) != law)
            FAIL("sum " << sum << ", small exponent " << exponent);
    }
    REQUIRE(bits(finish(0, 3)) == 0);
}

TEST_CASE("conversion to integers is that of a GPU where the law has none", "[trainer][cuda]") {
    REQUIRE(to_int_rn(std::numeric_limits<float>::quiet_NaN()) == 0);
    REQUIRE(to_int_rn(std::numeric_limits<float>::infinity()) == INT32_MAX);
    REQUIRE(to_int_rn(-std::numeric_limits<float>::infinity()) == INT32_MIN);
    REQUIRE(to_int_rn(2.5F) == 2);
    REQUIRE(to_int_rn(-3.5F) == -4);
}

}  // namespace assay::trainer::cuda
