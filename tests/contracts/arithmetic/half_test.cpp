// SPDX-License-Identifier: Apache-2.0
// binary16 updates: the rounding of every kind of number, and every bit pattern there and back.
#include "contracts/arithmetic/half.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.hpp"

namespace assay::arithmetic {
namespace {

/// The value of finite binary16 bits, by the definition of IEEE 754.
double value_of(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 0x1f;
    const double fraction = bits & 0x3ff;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

bool is_written(std::uint16_t bits) { return (bits & 0x7c00) != 0x7c00 && bits != 0x8000; }

}  // namespace

TEST_CASE("a number that binary16 has is itself", "[arithmetic][half]") {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        if (!is_written(half)) continue;
        REQUIRE(half_of(static_cast<float>(value_of(half))) == half);
    }
}

TEST_CASE("a number between two of binary16 goes to the nearer, the middle to the even one",
          "[arithmetic][half]") {
    for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
        const auto low = static_cast<std::uint16_t>(bits);
        const auto high = static_cast<std::uint16_t>(bits + 1);
        const auto middle = static_cast<float>((value_of(low) + value_of(high)) / 2);
        const std::uint16_t even = (low & 1) == 0 ? low : high;
        REQUIRE(half_of(middle) == even);
        REQUIRE(half_of(std::nextafter(middle, 0.0F)) == low);
        REQUIRE(half_of(std::nextafter(middle, 1e9F)) == high);
        if (even != 0) REQUIRE(half_of(-middle) == (even | 0x8000));
    }
}

TEST_CASE("zero has one spelling, and what is too large or no number has none", "[arithmetic][half]") {
    CHECK(half_of(-0.0F) == 0);
    CHECK(half_of(-1e-9F) == 0);
    CHECK(half_of(std::ldexp(-1.0F, -25)) == 0);  // the middle between 0 and the least: even is 0
    CHECK(half_of(std::nextafter(std::ldexp(1.0F, -25), 1.0F)) == 1);
    CHECK(half_of(65504.0F) == 0x7bff);
    CHECK(half_of(std::nextafter(65520.0F, 0.0F)) == 0x7bff);
    for (const float beyond : {65520.0F, -65520.0F, 1e30F, std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()}) {
        CHECK_FALSE(half_of(beyond).has_value());
    }
}

TEST_CASE("binary16 is whole numbers of the sum exponent, there and back", "[arithmetic][half]") {
    for (const int exponent : {kLeastHalfExponent, -40, kMostHalfExponent}) {
        for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
            const auto half = static_cast<std::uint16_t>(bits);
            const auto value = half_value(half, exponent);
            REQUIRE(value.has_value() == is_written(half));
            if (!value) continue;
            REQUIRE(static_cast<double>(*value) == std::ldexp(value_of(half), -exponent));
            REQUIRE(std::abs(*value) < (std::int64_t{1} << 62));
            REQUIRE(half_with_value(*value, exponent) == half);
        }
    }
}

TEST_CASE("a whole number that is no binary16 has no bits", "[arithmetic][half]") {
    CHECK_FALSE(half_with_value(1, -40).has_value());                      // below the least
    CHECK_FALSE(half_with_value(2049, -24).has_value());                   // twelve digits
    CHECK_FALSE(half_with_value(std::int64_t{1} << 40, -24).has_value());  // 2^16
    CHECK_FALSE(half_with_value(std::numeric_limits<std::int64_t>::min(), -46).has_value());
    CHECK_FALSE(half_with_value(std::numeric_limits<std::int64_t>::max(), -46).has_value());
}

TEST_CASE("finalise rounds the difference in binary32, then to binary16", "[arithmetic][half]") {
    const std::vector<float> start = {1.0F, 0.5F, 16777216.0F, 0.1F};
    const std::vector<float> end = {0.0F, 0.5F, 16777215.0F, 0.0999F};
    std::vector<std::int64_t> update(4);
    REQUIRE(half_finalise(-40, start, end, update));
    CHECK(update[0] == std::int64_t{1} << 40);
    CHECK(update[1] == 0);
    CHECK(update[2] == std::int64_t{1} << 40);
    CHECK(update[3] == *half_value(*half_of(0.1F - 0.0999F), -40));
    const std::vector<float> far = {70000.0F, 0.0F, 0.0F, 0.0F};
    CHECK_FALSE(half_finalise(-40, far, std::vector<float>(4), update));
}

}  // namespace assay::arithmetic
