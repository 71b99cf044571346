// SPDX-License-Identifier: Apache-2.0
// Defines the matrix products of profile i16 for reference machine and kernels: integers in between, so
// every order of a block's sum has the same bits.
//
// k is cut into blocks, ascending. In a block every row of A and every column of B becomes fixed point with
// one power-of-two scale of its own, taken from its largest magnitude in that block; the sum S of the integer
// products is exact; RNE32(S) · 2^(ea + eb) (one rounding each) is the block's value, and c = c + value (one
// rounding) for block after block, from +0 or from what c holds. So a −0 never comes out of a product that
// starts at +0, and k = 0 gives +0. Operands are finite: the code that wrote them has checked that. A
// sum beyond binary32 is an infinity, which the finite check of the output finds.
//
// Fixed point of 2 digits (base 256, each in [−128, 127]): |v| <= 32,639; of 3 digits: |v| <= 8,355,711.
// These are the largest numbers all of whose digits are 127.
#pragma once

#include <cstdint>

#include "contracts/arithmetic/matrix.hpp"
#include "contracts/arithmetic/product.hpp"
#include "contracts/arithmetic/product_rule.hpp"

namespace assay::arithmetic {

/// Largest |quantise| of `digits` 2 or 3.
constexpr std::int32_t digit_limit(int digits) { return digits == 2 ? 32'639 : 8'355'711; }

/// Exponent e of a row's scale 2^e, from the bits of its largest magnitude (sign cleared; 0 for a row of
/// zeros): the least e >= −140 (2 digits) or −148 (3 digits) for which no |quantise| exceeds digit_limit.
std::int32_t row_exponent(std::uint32_t max_bits, int digits);

/// x · 2^−exponent, rounded to nearest even. REQUIRES an exponent that row_exponent gave to a row with x.
std::int32_t quantise(float x, std::int32_t exponent);

/// RNE32(sum) · 2^exponent, rounded once more where the result is subnormal. +0 for sum 0. May be −0 or
/// infinite. REQUIRES |exponent| <= 300.
float finish(std::int64_t sum, std::int32_t exponent);

/// c[m,n] (rows c_stride floats apart) = or += a[m,k] · b[k,n] by the rule above. REQUIRES 1 <= rule.block <=
/// kMaxProductBlock and digits of 2 or 3, not both 3.
void exact_product(ProductShape shape, ProductRule rule, MatrixView a, MatrixView b, ChainStart start,
                   float* c, std::uint64_t c_stride);

}  // namespace assay::arithmetic
