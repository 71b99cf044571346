// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/double_word.hpp"

#include <bit>

#include "contracts/base/check.hpp"

namespace assay::arithmetic {

namespace {

constexpr DoubleWord kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
// pi/2 in three parts.
constexpr double kHalfPi1 = 0x1.921fb54442d18p+0;
constexpr double kHalfPi2 = 0x1.1a62633145c07p-54;
constexpr double kHalfPi3 = -0x1.f1976b7ed8fbcp-110;
// Adding and subtracting 1.5·2^52 rounds a number below 2^51 to an integer.
constexpr double kToInteger = 6755399441055744.0;

double nearest_integer(double x) { return (x + kToInteger) - kToInteger; }

DoubleWord scaled(DoubleWord x, double power_of_two) { return {x.hi * power_of_two, x.lo * power_of_two}; }

/// 2^exponent. REQUIRES a normal number.
double power_of_two(std::int64_t exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// ln x for a finite normal x >= 1: x = m·2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2·atanh((m − 1)/(m +
/// 1)), whose series in z² <= 0.0295 is cut after z^43: below 2^-108 of the first term.
DoubleWord logarithm(double x) {
    std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffU) | 0x3ff0000000000000U;
    double m = std::bit_cast<double>(bits);
    if (m > 1.4142135623730951) {
        m = m / 2;
        ++exponent;
    }
    const DoubleWord z = divide({m - 1.0, 0.0}, two_sum(m, 1.0));
    const DoubleWord square = multiply(z, z);
    DoubleWord sum{};
    for (int k = 43; k >= 1; k -= 2) {
        sum = add(divide({2.0, 0.0}, {static_cast<double>(k), 0.0}), multiply(sum, square));
    }
    return add(multiply({static_cast<double>(exponent), 0.0}, kLn2), multiply(z, sum));
}

/// e^-x for 0 <= x <= 45: x = n·ln 2 + 256·r with |r| < 0.0014; e^-r by its series to r^11 (the rest is below
/// 2^-130), squared eight times.
DoubleWord exponential_of_minus(DoubleWord x) {
    const double n = nearest_integer(x.hi / kLn2.hi);
    DoubleWord r = add(x, multiply({-n, 0.0}, kLn2));
    r = scaled(r, -1.0 / 256.0);
    DoubleWord sum{1.0, 0.0};
    for (int k = 11; k >= 1; --k) {
        sum = add({1.0, 0.0}, multiply(divide(r, {static_cast<double>(k), 0.0}), sum));
    }
    for (int i = 0; i < 8; ++i) sum = multiply(sum, sum);
    return scaled(sum, power_of_two(-static_cast<std::int64_t>(n)));
}

}  // namespace

DoubleWord add(DoubleWord a, DoubleWord b) {
    DoubleWord high = two_sum(a.hi, b.hi);
    const DoubleWord low = two_sum(a.lo, b.lo);
    high = quick_two_sum(high.hi, high.lo + low.hi);
    return quick_two_sum(high.hi, high.lo + low.lo);
}

DoubleWord multiply(DoubleWord a, DoubleWord b) {
    const DoubleWord product = two_product(a.hi, b.hi);
    const double cross = __builtin_fma(a.hi, b.lo, a.lo * b.hi);
    return quick_two_sum(product.hi, product.lo + cross);
}

DoubleWord divide(DoubleWord a, DoubleWord b) {
    // Long division: three digits of 53 bits, each from the remainder of those before.
    const double first = a.hi / b.hi;
    DoubleWord rest = add(a, multiply(b, {-first, 0.0}));
    const double second = rest.hi / b.hi;
    rest = add(rest, multiply(b, {-second, 0.0}));
    const double third = rest.hi / b.hi;
    return add(quick_two_sum(first, second), {third, 0.0});
}

DoubleWord inverse_power(double base, std::uint32_t numerator, std::uint32_t denominator) {
    ASSAY_CHECK(base >= 1.0 && base < 0x1p64 && denominator > 0 && numerator <= denominator);
    const DoubleWord part =
        divide({static_cast<double>(numerator), 0.0}, {static_cast<double>(denominator), 0.0});
    return exponential_of_minus(multiply(logarithm(base), part));
}

SinCos sin_cos(DoubleWord angle) {
    ASSAY_CHECK(angle.hi >= 0.0 && angle.hi < 0x1p32);
    const double n = nearest_integer(angle.hi * 0.63661977236758134);
    // r = angle − n·pi/2 with |r| <= pi/4: n·(first part) is exact in two words.
    const DoubleWord first = two_product(-n, kHalfPi1);
    const DoubleWord second = two_product(-n, kHalfPi2);
    DoubleWord r = add(angle, first);
    r = add(r, {second.hi, __builtin_fma(-n, kHalfPi3, second.lo)});
    // Taylor series in r.hi; the low word enters to first order (its square is below 2^-107).
    const double z = r.hi * r.hi;
    double s = 1.0 / 355687428096000.0;  // 1/17!
    s = __builtin_fma(s, z, -1.0 / 1307674368000.0);
    s = __builtin_fma(s, z, 1.0 / 6227020800.0);
    s = __builtin_fma(s, z, -1.0 / 39916800.0);
    s = __builtin_fma(s, z, 1.0 / 362880.0);
    s = __builtin_fma(s, z, -1.0 / 5040.0);
    s = __builtin_fma(s, z, 1.0 / 120.0);
    s = __builtin_fma(s, z, -1.0 / 6.0);
    double c = -1.0 / 6402373705728000.0;  // −1/18!
    c = __builtin_fma(c, z, 1.0 / 20922789888000.0);
    c = __builtin_fma(c, z, -1.0 / 87178291200.0);
    c = __builtin_fma(c, z, 1.0 / 479001600.0);
    c = __builtin_fma(c, z, -1.0 / 3628800.0);
    c = __builtin_fma(c, z, 1.0 / 40320.0);
    c = __builtin_fma(c, z, -1.0 / 720.0);
    c = __builtin_fma(c, z, 1.0 / 24.0);
    const double cos_head = __builtin_fma(z, -0.5, 1.0);
    const double sin_r = r.hi + __builtin_fma(r.hi * z, s, r.lo * cos_head);
    const double cos_r = cos_head + __builtin_fma(z * z, c, -(r.hi * r.lo));
    switch (static_cast<std::uint64_t>(n) % 4) {
        case 0: return {sin_r, cos_r};
        case 1: return {cos_r, -sin_r};
        case 2: return {-sin_r, -cos_r};
        default: return {-cos_r, sin_r};
    }
}

}  // namespace assay::arithmetic
