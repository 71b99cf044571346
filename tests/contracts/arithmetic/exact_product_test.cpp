// SPDX-License-Identifier: Apache-2.0
// The exact-integer product against an evaluation of its definition by other means: scales found by search,
// long double and 128-bit integers in place of binary64 and int64.
#include "contracts/arithmetic/exact_product.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/contracts/arithmetic/floats.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::arithmetic;
using assay::test::bits;

__extension__ using Wide = __int128;
__extension__ using WideMagnitude = unsigned __int128;

float from_bits(std::uint32_t x) { return std::bit_cast<float>(x); }

long double scaled(float x, int e) { return std::rint(std::ldexp(static_cast<long double>(x), -e)); }

// The least exponent from the floor upwards under which the row's largest stays within the limit.
int searched_exponent(float largest, int digits) {
    int e = digits == 2 ? -140 : -148;
    while (std::fabs(scaled(largest, e)) > digit_limit(digits)) ++e;
    return e;
}

// Integer to the nearest float, ties to even, by hand.
float nearest(Wide sum) {
    if (sum == 0) return 0.0F;
    const bool negative = sum < 0;
    auto magnitude = static_cast<WideMagnitude>(negative ? -sum : sum);
    int shift = 0;
    while ((magnitude >> shift) >= (static_cast<WideMagnitude>(1) << 24)) ++shift;
    WideMagnitude kept = magnitude >> shift;
    const WideMagnitude rest = magnitude - (kept << shift);
    const WideMagnitude half = shift == 0 ? 1 : static_cast<WideMagnitude>(1) << (shift - 1);
    if (shift > 0 && (rest > half || (rest == half && (kept & 1) == 1))) ++kept;
    const float value = std::ldexp(static_cast<float>(static_cast<std::uint32_t>(kept)), shift);
    return negative ? -value : value;
}

struct StridedOperand {
    std::vector<float> values;
    MatrixView view;
    [[nodiscard]] float at(std::uint64_t i, std::uint64_t j) const {
        return values[i * view.row_stride + j * view.col_stride];
    }
};

float oracle(const StridedOperand& a, const StridedOperand& b, std::uint64_t i, std::uint64_t j,
             std::uint64_t k, ProductRule rule, float c) {
    for (std::uint64_t k0 = 0; k0 < k; k0 += rule.block) {
        const std::uint64_t end = std::min(k, k0 + rule.block);
        float largest_a = 0.0F, largest_b = 0.0F;
        for (std::uint64_t t = k0; t < end; ++t) {
            largest_a = std::max(largest_a, std::fabs(a.at(i, t)));
            largest_b = std::max(largest_b, std::fabs(b.at(t, j)));
        }
        const int ea = searched_exponent(largest_a, rule.a_digits);
        const int eb = searched_exponent(largest_b, rule.b_digits);
        Wide sum = 0;
        for (std::uint64_t t = k0; t < end; ++t) {
            sum += static_cast<Wide>(scaled(a.at(i, t), ea)) * static_cast<Wide>(scaled(b.at(t, j), eb));
        }
        c = c + std::scalbn(nearest(sum), ea + eb);
    }
    return c;
}

float wild(std::mt19937& random) {
    std::normal_distribution<float> normal;
    switch (random() % 12) {
        case 0: return 0.0F;
        case 1: return -0.0F;
        case 2: return from_bits(static_cast<std::uint32_t>(random()) & 0x807fffffU);  // subnormal
        case 3: return std::ldexp(normal(random), static_cast<int>(random() % 200) - 100);
        case 4: return std::ldexp(normal(random), 120);
        case 5: return static_cast<float>(static_cast<int>(random() % 17) - 8) * 0.5F;  // ties
        default: return normal(random);
    }
}

// Rows of one flavour: all wild, all ordinary, all tiny or all zero.
StridedOperand operand(std::mt19937& random, std::uint64_t rows, std::uint64_t cols, bool transposed) {
    StridedOperand out{std::vector<float>(rows * cols), {}};
    out.view = transposed ? MatrixView{nullptr, 1, rows} : MatrixView{nullptr, cols, 1};
    const auto flavour = random() % 5;
    for (std::uint64_t i = 0; i < rows; ++i) {
        for (std::uint64_t j = 0; j < cols; ++j) {
            float x = wild(random);
            if (flavour == 0) x = static_cast<float>(random() % 1000) / 256.0F - 2.0F;
            if (flavour == 1) x = from_bits(bits(x) & 0x800fffffU);
            if (flavour == 2 && i % 3 == 1) x = 0.0F;
            out.values[i * out.view.row_stride + j * out.view.col_stride] = x;
        }
    }
    out.view.data = out.values.data();
    return out;
}
}  // namespace

TEST_CASE("a row's exponent is the least that keeps every integer within its digits") {
    for (const int digits : {2, 3}) {
        const std::uint32_t edge = digits == 2 ? 0x7f0000U - 0x100U : 0x7effffU;  // mantissa of limit + 0.5
        for (std::uint32_t field = 0; field < 255; ++field) {
            for (std::uint32_t mantissa :
                 {0U, 1U, 0x10000U, 0x400000U, edge - 1, edge, edge + 1, 0x7ffffeU, 0x7fffffU}) {
                const float x = from_bits(field << 23U | mantissa);
                INFO(digits << " digits, field " << field << ", mantissa " << mantissa);
                const std::int32_t e = row_exponent(bits(x), digits);
                REQUIRE(e == searched_exponent(x, digits));
                REQUIRE(std::abs(quantise(-x, e)) <= digit_limit(digits));
            }
        }
    }
    // 32,639.5 would round to 32,640; the number below it still rounds to the limit. 24 bits likewise.
    CHECK(row_exponent(bits(32639.5F), 2) == 1);
    CHECK(row_exponent(bits(std::nextafter(32639.5F, 0.0F)), 2) == 0);
    CHECK(quantise(std::nextafter(32639.5F, 0.0F), 0) == 32639);
    CHECK(quantise(32639.5F, 1) == 16320);  // 16,319.75
    CHECK(row_exponent(bits(8355711.5F), 3) == 1);
    CHECK(row_exponent(bits(8355711.0F), 3) == 0);
    CHECK(quantise(-8355711.0F, 0) == -8355711);
    CHECK(row_exponent(0, 2) == -140);
    CHECK(row_exponent(0, 3) == -148);
    CHECK(row_exponent(bits(std::numeric_limits<float>::max()), 2) == 114);
    CHECK(row_exponent(bits(std::numeric_limits<float>::max()), 3) == 106);
}

TEST_CASE("numbers become integers by rounding to nearest, ties to even") {
    CHECK(quantise(0.5F, 0) == 0);
    CHECK(quantise(1.5F, 0) == 2);
    CHECK(quantise(-2.5F, 0) == -2);
    CHECK(quantise(-0.0F, 0) == 0);
    CHECK(quantise(from_bits(1), -140) == 0);    // 2^-149 of 2^-140
    CHECK(quantise(from_bits(256), -140) == 0);  // a tie
    CHECK(quantise(from_bits(257), -140) == 1);
    CHECK(quantise(from_bits(768), -140) == 2);  // a tie
    CHECK(quantise(from_bits(0x7fffff), -140) == 16384);
    CHECK(quantise(from_bits(1), 114) == 0);
}

TEST_CASE("a block's sum is rounded to 24 bits and, when subnormal, once more") {
    CHECK(bits(finish(0, -280)) == 0);
    CHECK(finish((1LL << 24) + 1, 0) == 16777216.0F);  // tie, even
    CHECK(finish((1LL << 24) + 3, 0) == 16777220.0F);  // tie, up to even
    CHECK(finish(-((1LL << 40) + (1LL << 16) + 1), 0) == -(0x1p40F + 0x1p17F));
    // 2^24 + 1 first becomes 2^24; times 2^-173 that is 2^-149. Three quarters of it round up, a half to
    // even.
    CHECK(bits(finish((1LL << 24) + 1, -173)) == 1);
    CHECK(bits(finish(3, -151)) == 1);
    CHECK(bits(finish(1, -150)) == 0);
    CHECK(bits(finish(-1, -150)) == 0x80000000U);
    // Two roundings, as the rule says: the first drops the last bit and leaves 2.5, a tie; one alone gives 3.
    CHECK(bits(finish(0x2800001, -149 - 24)) == 2);
    CHECK(std::isinf(finish(1LL << 44, 100)));
}

TEST_CASE("exact products agree with their definition evaluated by other means") {
    std::mt19937 random(41);
    for (int repeat = 0; repeat < 150; ++repeat) {
        const std::uint64_t m = random() % 6, n = random() % 6;
        const std::uint64_t k = random() % 4 == 0 ? random() % 3 : random() % 90;
        const std::uint64_t blocks[] = {1, 2, 7, 64, kMaxProductBlock};
        const std::uint8_t three = static_cast<std::uint8_t>(random() % 3);
        const ProductRule rule{static_cast<std::uint8_t>(three == 1 ? 3 : 2),
                               static_cast<std::uint8_t>(three == 2 ? 3 : 2), blocks[random() % 5]};
        const StridedOperand a = operand(random, m, k, random() % 2 == 0);
        const StridedOperand b = operand(random, k, n, random() % 2 == 0);
        std::vector<float> c(m * (n + 2));
        for (float& x : c) x = wild(random);
        const std::vector<float> before = c;
        const ChainStart start = random() % 2 == 0 ? ChainStart::kZero : ChainStart::kCarry;
        exact_product({m, n, k}, rule, a.view, b.view, start, c.data(), n + 2);
        for (std::uint64_t i = 0; i < m; ++i) {
            for (std::uint64_t j = 0; j < n + 2; ++j) {
                const float first = start == ChainStart::kZero && j < n ? 0.0F : before[i * (n + 2) + j];
                const float expected = j < n ? oracle(a, b, i, j, k, rule, first) : first;
                INFO("repeat " << repeat << ", " << m << "x" << n << "x" << k << " at " << i << ", " << j);
                REQUIRE(bits(c[i * (n + 2) + j]) == bits(expected));
            }
        }
    }
}

TEST_CASE("the largest sums of the longest block are exact") {
    const std::uint64_t k = kMaxProductBlock + 3;  // and a second block
    for (const int digits : {2, 3}) {
        const auto limit = static_cast<float>(digit_limit(digits));
        StridedOperand a{std::vector<float>(k, limit), {nullptr, k, 1}};
        StridedOperand b{std::vector<float>(k, -32639.0F), {nullptr, 1, 1}};
        a.values[5] = limit - 1.0F;
        a.view.data = a.values.data();
        b.view.data = b.values.data();
        const ProductRule rule{static_cast<std::uint8_t>(digits), 2, kMaxProductBlock};
        float c = 1.0F;
        exact_product({1, 1, k}, rule, a.view, b.view, ChainStart::kCarry, &c, 1);
        CHECK(bits(c) == bits(oracle(a, b, 0, 0, k, rule, 1.0F)));
    }
}

TEST_CASE("no -0 comes out of a product that starts at +0, and an empty one is +0") {
    const float minus = -from_bits(1), plus = from_bits(1), zero = -0.0F;
    float c = 7.0F;
    exact_product({1, 1, 1}, {}, {&minus, 1, 1}, {&plus, 1, 1}, ChainStart::kZero, &c, 1);
    CHECK(bits(c) == 0);
    exact_product({1, 1, 1}, {}, {&zero, 1, 1}, {&plus, 1, 1}, ChainStart::kZero, &c, 1);
    CHECK(bits(c) == 0);
    c = 7.0F;
    exact_product({1, 1, 0}, {}, {&minus, 1, 1}, {&plus, 1, 1}, ChainStart::kZero, &c, 1);
    CHECK(bits(c) == 0);
    c = -0.0F;
    exact_product({1, 1, 0}, {}, {&minus, 1, 1}, {&plus, 1, 1}, ChainStart::kCarry, &c, 1);
    CHECK(bits(c) == 0x80000000U);
}
