// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/exact_product.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "contracts/base/check.hpp"

namespace assay::arithmetic {

namespace {
// A block of one row of A or one column of B, ready for the integer sum.
struct FixedPoint {
    std::vector<std::int32_t> values;
    std::int32_t exponent = 0;
};

FixedPoint fixed_point(const float* data, std::uint64_t stride, std::uint64_t count, int digits) {
    std::uint32_t max_bits = 0;
    for (std::uint64_t k = 0; k < count; ++k) {
        max_bits = std::max(max_bits, std::bit_cast<std::uint32_t>(data[k * stride]) & 0x7fffffffU);
    }
    FixedPoint out{std::vector<std::int32_t>(count), row_exponent(max_bits, digits)};
    for (std::uint64_t k = 0; k < count; ++k) out.values[k] = quantise(data[k * stride], out.exponent);
    return out;
}

// Exact: binary64 holds every power that occurs.
double power_of_two(std::int32_t exponent) {
    ASSAY_CHECK(exponent >= -300 && exponent <= 300);
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52U);
}
}  // namespace

std::int32_t row_exponent(std::uint32_t max_bits, int digits) {
    ASSAY_CHECK(digits == 2 || digits == 3);
    // Adding the distance from digit_limit + 0.5 to the next power of two moves rows that would exceed the
    // limit after rounding up to the next exponent.
    const std::uint32_t field = (max_bits + (digits == 2 ? 0x10100U : 0x10101U)) >> 23U;
    return static_cast<std::int32_t>(std::max(1U, field)) - (digits == 2 ? 141 : 149);
}

std::int32_t quantise(float x, std::int32_t exponent) {
    // Exact product; the sum rounds to an integer, to nearest even, as its ulp is 1.
    constexpr double kUlpOne = 0x1.8p52;
    return static_cast<std::int32_t>((static_cast<double>(x) * power_of_two(-exponent) + kUlpOne) - kUlpOne);
}

float finish(std::int64_t sum, std::int32_t exponent) {
    const auto rounded = static_cast<float>(sum);
    return static_cast<float>(static_cast<double>(rounded) * power_of_two(exponent));
}

void exact_product(ProductShape shape, ProductRule rule, MatrixView a, MatrixView b, ChainStart start,
                   float* c, std::uint64_t c_stride) {
    ASSAY_CHECK(rule.block >= 1 && rule.block <= kMaxProductBlock);
    ASSAY_CHECK(rule.a_digits + rule.b_digits <= 5);
    if (start == ChainStart::kZero) {
        for (std::uint64_t i = 0; i < shape.m; ++i) std::fill_n(c + i * c_stride, shape.n, 0.0F);
    }
    for (std::uint64_t k0 = 0; k0 < shape.k; k0 += rule.block) {
        const std::uint64_t depth = std::min(rule.block, shape.k - k0);
        std::vector<FixedPoint> columns;
        for (std::uint64_t j = 0; j < shape.n; ++j) {
            columns.push_back(fixed_point(b.data + k0 * b.row_stride + j * b.col_stride, b.row_stride, depth,
                                          rule.b_digits));
        }
        for (std::uint64_t i = 0; i < shape.m; ++i) {
            const FixedPoint row = fixed_point(a.data + i * a.row_stride + k0 * a.col_stride, a.col_stride,
                                               depth, rule.a_digits);
            for (std::uint64_t j = 0; j < shape.n; ++j) {
                std::int64_t sum = 0;
                for (std::uint64_t k = 0; k < depth; ++k) {
                    sum += static_cast<std::int64_t>(row.values[k]) * columns[j].values[k];
                }
                float& out = c[i * c_stride + j];
                out = out + finish(sum, row.exponent + columns[j].exponent);
            }
        }
    }
}

}  // namespace assay::arithmetic
