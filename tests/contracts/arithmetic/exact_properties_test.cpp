// SPDX-License-Identifier: Apache-2.0
// What exact integer products must not depend on. These are properties of the rule, whatever computes it:
// they are why tiles, threads and devices of every kind may share one result.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "contracts/arithmetic/exact_product.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::arithmetic;
using Floats = std::vector<float>;

// Magnitudes over 40 octaves with zeros of both signs among them.
Floats wild(std::mt19937_64& random, std::size_t count) {
    std::normal_distribution<float> normal;
    Floats out(count);
    for (float& x : out) {
        const auto kind = random() % 16;
        x = std::ldexp(normal(random), static_cast<int>(random() % 40) - 20);
        if (kind == 0) x = 0.0F;
        if (kind == 1) x = -0.0F;
    }
    return out;
}

Floats product(ProductShape s, ProductRule rule, const Floats& a, const Floats& b) {
    Floats c(s.m * s.n);
    exact_product(s, rule, {a.data(), s.k, 1}, {b.data(), s.n, 1}, ChainStart::kZero, c.data(), s.n);
    return c;
}

void check_bits(const Floats& a, const Floats& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        REQUIRE(std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i]));
    }
}

const std::vector<ProductRule> kRules = {
    {2, 2, 16'384}, {3, 2, 16'384}, {2, 3, 16'384}, {2, 2, 64}, {3, 2, 10}};
constexpr ProductShape kShape{5, 7, 150};
}  // namespace

TEST_CASE("the order of the terms inside a block leaves the bits alone") {
    std::mt19937_64 random(31);
    for (const ProductRule& rule : kRules) {
        const Floats a = wild(random, kShape.m * kShape.k);
        const Floats b = wild(random, kShape.k * kShape.n);
        std::vector<std::uint64_t> order(kShape.k);
        std::iota(order.begin(), order.end(), 0);
        for (std::uint64_t k0 = 0; k0 < kShape.k; k0 += rule.block) {
            const auto first = order.begin() + static_cast<std::ptrdiff_t>(k0);
            const auto last =
                order.begin() + static_cast<std::ptrdiff_t>(std::min(k0 + rule.block, kShape.k));
            std::shuffle(first, last, random);
        }
        Floats pa(a.size());
        Floats pb(b.size());
        for (std::uint64_t k = 0; k < kShape.k; ++k) {
            for (std::uint64_t i = 0; i < kShape.m; ++i) pa[i * kShape.k + k] = a[i * kShape.k + order[k]];
            for (std::uint64_t j = 0; j < kShape.n; ++j) pb[k * kShape.n + j] = b[order[k] * kShape.n + j];
        }
        check_bits(product(kShape, rule, a, b), product(kShape, rule, pa, pb));
    }
}

TEST_CASE("the order of blocks does matter, and so does where they are cut") {
    // 1 · 2^24, then twice 1 · 1: as blocks of one term each, both small terms are rounded away.
    const Floats a{16777216.0F, 1.0F, 1.0F};
    const Floats backwards{1.0F, 1.0F, 16777216.0F};
    const Floats ones{1.0F, 1.0F, 1.0F};
    CHECK(product({1, 1, 3}, {2, 2, 1}, a, ones)[0] == 16777216.0F);
    CHECK(product({1, 1, 3}, {2, 2, 1}, backwards, ones)[0] == 16777218.0F);
    // In one block they share a scale of 2^10, of which 1 is nothing.
    CHECK(product({1, 1, 3}, {2, 2, 3}, backwards, ones)[0] == 16777216.0F);
}

TEST_CASE("a row or column times a power of two gives exactly that multiple") {
    std::mt19937_64 random(32);
    for (const ProductRule& rule : kRules) {
        Floats a = wild(random, kShape.m * kShape.k);
        Floats b = wild(random, kShape.k * kShape.n);
        Floats wanted = product(kShape, rule, a, b);
        for (std::uint64_t k = 0; k < kShape.k; ++k) a[2 * kShape.k + k] *= 0x1p30F;
        for (std::uint64_t k = 0; k < kShape.k; ++k) b[k * kShape.n + 4] *= 0x1p-25F;
        for (std::uint64_t j = 0; j < kShape.n; ++j) wanted[2 * kShape.n + j] *= 0x1p30F;
        for (std::uint64_t i = 0; i < kShape.m; ++i) wanted[i * kShape.n + 4] *= 0x1p-25F;
        check_bits(wanted, product(kShape, rule, a, b));
    }
}

TEST_CASE("rows and columns do not see their neighbours") {
    std::mt19937_64 random(33);
    for (const ProductRule& rule : kRules) {
        Floats a = wild(random, kShape.m * kShape.k);
        Floats b = wild(random, kShape.k * kShape.n);
        const Floats before = product(kShape, rule, a, b);
        for (std::uint64_t k = 0; k < kShape.k; ++k) a[kShape.k + k] = 1e30F;
        for (std::uint64_t k = 0; k < kShape.k; ++k) b[k * kShape.n + 3] = -1e-30F;
        const Floats after = product(kShape, rule, a, b);
        for (std::uint64_t i = 0; i < kShape.m; ++i) {
            for (std::uint64_t j = 0; j < kShape.n; ++j) {
                if (i == 1 || j == 3) continue;
                REQUIRE(before[i * kShape.n + j] == after[i * kShape.n + j]);
            }
        }
    }
}

TEST_CASE("a transposed product is the product of the transposed, and a sign goes through") {
    std::mt19937_64 random(34);
    for (const ProductRule& rule : kRules) {
        const Floats a = wild(random, kShape.m * kShape.k);
        const Floats b = wild(random, kShape.k * kShape.n);
        const Floats c = product(kShape, rule, a, b);
        Floats transposed(c.size());
        exact_product({kShape.n, kShape.m, kShape.k}, {rule.b_digits, rule.a_digits, rule.block},
                      {b.data(), 1, kShape.n}, {a.data(), 1, kShape.k}, ChainStart::kZero, transposed.data(),
                      kShape.m);
        Floats minus = a;
        for (float& x : minus) x = -x;
        const Floats negative = product(kShape, rule, minus, b);
        for (std::uint64_t i = 0; i < kShape.m; ++i) {
            for (std::uint64_t j = 0; j < kShape.n; ++j) {
                REQUIRE(c[i * kShape.n + j] == transposed[j * kShape.m + i]);
                REQUIRE(c[i * kShape.n + j] == -negative[i * kShape.n + j]);
            }
        }
    }
}

TEST_CASE("zeros at the end of a block change nothing") {
    std::mt19937_64 random(35);
    const Floats a = wild(random, 3 * 60);
    const Floats b = wild(random, 60 * 2);
    Floats longer(3 * 64, 0.0F);
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t k = 0; k < 60; ++k) longer[i * 64 + k] = a[i * 60 + k];
    }
    Floats taller = b;
    taller.resize(64 * 2, 0.0F);
    check_bits(product({3, 2, 60}, {2, 2, 64}, a, b), product({3, 2, 64}, {2, 2, 64}, longer, taller));
}

TEST_CASE("sequences added one at a time have the bits of all at once") {
    std::mt19937_64 random(36);
    constexpr std::uint64_t kTokens = 50;  // of a sequence, which is a block
    const Floats x = wild(random, 3 * kTokens * 4);
    const Floats dy = wild(random, 3 * kTokens * 6);
    Floats whole(4 * 6, 0.0F);
    Floats split = whole;
    const ProductRule rule{2, 2, kTokens};
    exact_product({4, 6, 3 * kTokens}, rule, {x.data(), 1, 4}, {dy.data(), 6, 1}, ChainStart::kCarry,
                  whole.data(), 6);
    for (std::uint64_t s = 0; s < 3; ++s) {
        exact_product({4, 6, kTokens}, rule, {x.data() + s * kTokens * 4, 1, 4},
                      {dy.data() + s * kTokens * 6, 6, 1}, ChainStart::kCarry, split.data(), 6);
    }
    check_bits(whole, split);
}

TEST_CASE("sixteen bits lose most of a gradient over a large vocabulary, twenty-four do not") {
    // Softmax of normal logits minus the target's one: what the head's gradient looks like early in training.
    constexpr std::size_t kVocabulary = 50'257;
    std::mt19937_64 random(37);
    std::normal_distribution<float> normal;
    Floats row(kVocabulary);
    double sum = 0;
    for (float& x : row) {
        x = std::exp(normal(random));
        sum += static_cast<double>(x);
    }
    for (float& x : row) x = static_cast<float>(static_cast<double>(x) / sum);
    row[1234] -= 1.0F;
    const auto lost = [&](int digits) {
        const std::int32_t exponent =
            row_exponent(std::bit_cast<std::uint32_t>(row[1234]) & 0x7fffffffU, digits);
        const auto zeros =
            std::count_if(row.begin(), row.end(), [&](float x) { return quantise(x, exponent) == 0; });
        return static_cast<double>(zeros) / static_cast<double>(kVocabulary);
    };
    CHECK(lost(2) > 0.8);
    CHECK(lost(3) < 0.001);
}

TEST_CASE("the example of docs/formats/arithmetic.md is right") {
    const Floats a{1.0F, -0.3F, 0x1p-20F};
    const Floats b{3.0F, 0.7F, 1000.0F};
    CHECK(row_exponent(0x3f800000U, 2) == -14);
    CHECK(row_exponent(0x447a0000U, 2) == -5);
    CHECK(quantise(a[1], -14) == -4915);
    CHECK(quantise(b[1], -5) == 22);
    CHECK(std::bit_cast<std::uint32_t>(product({1, 1, 3}, {2, 2, 16'384}, a, b)[0]) == 0x4032ccf0U);
    Floats chain(1);
    product_nn({1, 1, 3}, a, b, chain);
    CHECK(std::bit_cast<std::uint32_t>(chain[0]) == 0x40329efcU);
}
