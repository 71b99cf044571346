// SPDX-License-Identifier: Apache-2.0
// Numbers of about 106 bits, as the unevaluated sum of two binary64 numbers (Dekker 1971; Hida, Li & Bailey
// 2001), for tables that are computed once and rounded once. Uses only + − × ÷ and fma of binary64, round to
// nearest even, so every IEEE-754 machine gives the same bits.
#pragma once

#include <cstdint>

namespace assay::arithmetic {

struct DoubleWord {
    double hi = 0;  ///< the value rounded to nearest
    double lo = 0;
};

/// a + b exactly.
inline DoubleWord two_sum(double a, double b) {
    const double sum = a + b;
    const double part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}
/// a + b exactly. REQUIRES |a| >= |b| or a = 0.
inline DoubleWord quick_two_sum(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}
/// a · b exactly.
inline DoubleWord two_product(double a, double b) {
    const double product = a * b;
    return {product, __builtin_fma(a, b, -product)};
}

/// Relative error below 2^-103 where a and b have one sign, or where |a + b| is not small beside |a|.
DoubleWord add(DoubleWord a, DoubleWord b);
/// Relative error below 2^-102.
DoubleWord multiply(DoubleWord a, DoubleWord b);
/// Relative error below 2^-100. REQUIRES b not zero.
DoubleWord divide(DoubleWord a, DoubleWord b);

/// base^(−numerator / denominator), relative error below 2^-88.
/// REQUIRES 1 <= base < 2^64 and numerator <= denominator < 2^31, denominator > 0.
DoubleWord inverse_power(double base, std::uint32_t numerator, std::uint32_t denominator);

struct SinCos {
    double sin = 0;
    double cos = 0;
};
/// Absolute error of the angle's reduction below 2^-70, relative error of the rest below 2^-51.
/// REQUIRES 0 <= angle < 2^32 radians.
SinCos sin_cos(DoubleWord angle);

}  // namespace assay::arithmetic
