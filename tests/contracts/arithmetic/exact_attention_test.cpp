// SPDX-License-Identifier: Apache-2.0
// Attention's exact products against the rule written out entry by entry: which terms a block has, and which
// of them its two scales look at.
#include "contracts/arithmetic/exact_attention.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "contracts/arithmetic/exact_product.hpp"
#include "tests/contracts/arithmetic/floats.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::arithmetic;
using assay::test::bits;

constexpr std::uint64_t kBlock = 128;  // the law's, written out

using Term = std::function<float(std::uint64_t)>;

std::int32_t scale_of(const Term& x, std::uint64_t first, std::uint64_t last) {
    std::uint32_t largest = 0;
    for (std::uint64_t t = first; t < last; ++t) largest = std::max(largest, bits(x(t)) & 0x7fffffffU);
    return row_exponent(largest, 2);
}

// c + product of a[first…last) and b[first…last) over tokens, b's scale over whole blocks of `tokens`.
float over_tokens(const Term& a, const Term& b, std::uint64_t first, std::uint64_t last, std::uint64_t tokens,
                  float c) {
    for (std::uint64_t block = first / kBlock; block * kBlock < last; ++block) {
        const std::uint64_t start = block * kBlock, end = std::min(tokens, start + kBlock);
        const std::uint64_t from = std::max(first, start), to = std::min(last, end);
        const std::int32_t ea = scale_of(a, from, to), eb = scale_of(b, start, end);
        std::int64_t sum = 0;
        for (std::uint64_t t = from; t < to; ++t) {
            sum += static_cast<std::int64_t>(quantise(a(t), ea)) * quantise(b(t), eb);
        }
        c = c + finish(sum, ea + eb);
    }
    return c;
}

float over_numbers(const Term& a, const Term& b, std::uint64_t d) {
    const std::int32_t ea = scale_of(a, 0, d), eb = scale_of(b, 0, d);
    std::int64_t sum = 0;
    for (std::uint64_t c = 0; c < d; ++c)
        sum += static_cast<std::int64_t>(quantise(a(c), ea)) * quantise(b(c), eb);
    return 0.0F + finish(sum, ea + eb);
}
}  // namespace

TEST_CASE("attention's exact products are the rule under the causal mask") {
    std::mt19937 random(43);
    std::normal_distribution<float> normal;
    for (const std::uint64_t tokens : {1U, 5U, 127U, 128U, 129U, 256U, 300U}) {
        const std::uint64_t d = 1 + random() % 9, stride = 3 * d + 1;
        std::vector<float> rows(tokens * stride), matrix(tokens * tokens);
        for (float& x : rows) x = std::ldexp(normal(random), static_cast<int>(random() % 30) - 15);
        for (float& x : matrix) x = std::ldexp(normal(random), static_cast<int>(random() % 30) - 15);
        const HeadView q{rows.data(), stride}, k{rows.data() + d, stride};
        const HeadShape shape{tokens, d};
        const auto row = [&](HeadView v, std::uint64_t i) {
            return [v, i](std::uint64_t c) { return v.data[i * v.stride + c]; };
        };
        const auto column = [&](HeadView v, std::uint64_t c) {
            return [v, c](std::uint64_t t) { return v.data[t * v.stride + c]; };
        };
        INFO(tokens << " tokens, " << d << " numbers");

        std::vector<float> scores(tokens * tokens, 5.0F), dp(tokens * tokens, 5.0F);
        exact::attention_scores(shape, q, k, scores);
        exact::attention_probability_gradient(shape, q, k, dp);
        for (std::uint64_t i = 0; i < tokens; ++i) {
            for (std::uint64_t j = 0; j < tokens; ++j) {
                const float product = over_numbers(row(q, i), row(k, j), d);
                REQUIRE(bits(scores[i * tokens + j]) == bits(j <= i ? product * attention_scale(d) : 5.0F));
                REQUIRE(bits(dp[i * tokens + j]) == bits(j <= i ? product : 5.0F));
            }
        }

        std::vector<float> o(tokens * d), dq(tokens * d), dk(tokens * d), dv(tokens * d, 0.25F);
        exact::attention_values(shape, matrix, k, {o.data(), d});
        exact::attention_query_gradient(shape, matrix, q, {dq.data(), d});
        exact::attention_key_gradient(shape, matrix, q, {dk.data(), d});
        exact::attention_value_gradient(shape, matrix, k, {dv.data(), d}, ChainStart::kCarry);
        for (std::uint64_t t = 0; t < tokens; ++t) {
            const Term of_row = [&](std::uint64_t j) { return matrix[t * tokens + j]; };
            const Term of_column = [&](std::uint64_t i) { return matrix[i * tokens + t]; };
            for (std::uint64_t c = 0; c < d; ++c) {
                const Term qc = column(q, c), kc = column(k, c);
                REQUIRE(bits(o[t * d + c]) == bits(over_tokens(of_row, kc, 0, t + 1, tokens, 0.0F)));
                REQUIRE(bits(dq[t * d + c]) == bits(over_tokens(of_row, qc, 0, t + 1, tokens, 0.0F)));
                REQUIRE(bits(dk[t * d + c]) == bits(over_tokens(of_column, qc, t, tokens, tokens, 0.0F)));
                REQUIRE(bits(dv[t * d + c]) == bits(over_tokens(of_column, kc, t, tokens, tokens, 0.25F)));
            }
        }
    }
}

TEST_CASE("what a mask hides and what later blocks hold leave a row alone") {
    const std::uint64_t tokens = 164, d = 3;
    std::vector<float> p(tokens * tokens, 0.01F), v(tokens * d, 1.5F), o(tokens * d), changed(tokens * d);
    exact::attention_values({tokens, d}, p, {v.data(), d}, {o.data(), d});
    for (std::uint64_t i = 0; i < tokens; ++i) {
        for (std::uint64_t j = i + 1; j < tokens; ++j) p[i * tokens + j] = 1e30F;
    }
    for (std::uint64_t t = kBlock; t < tokens; ++t) v[t * d] = 1e30F;
    exact::attention_values({tokens, d}, p, {v.data(), d}, {changed.data(), d});
    for (std::uint64_t at = 0; at < kBlock * d; ++at) REQUIRE(bits(o[at]) == bits(changed[at]));
}
