// SPDX-License-Identifier: Apache-2.0
// Attention's exact products of every machine against the law, bit for bit.
#include "trainer/cpu/integer/attention.hpp"

#include <algorithm>

#include "contracts/arithmetic/exact_attention.hpp"
#include "tests/support/share.hpp"
#include "tests/trainer/cpu/integer/integer_support.hpp"

namespace assay::trainer::integer {
namespace {

namespace law = arithmetic::exact;
using arithmetic::ChainStart;
using arithmetic::HeadShape;
using arithmetic::HeadView;
using test::Values;

bool finite_lower(std::uint64_t tokens, const Values& m) {
    for (std::uint64_t i = 0; i < tokens; ++i) {
        for (std::uint64_t j = 0; j <= i; ++j) {
            if (!std::isfinite(m[i * tokens + j])) return false;
        }
    }
    return true;
}

bool finite_rows(const Values& x) {
    return std::all_of(x.begin(), x.end(), [](float value) { return std::isfinite(value); });
}
}  // namespace

TEST_CASE("exact attention of every machine has the bits of the law", "[integer]") {
    for (const test::Named& named : test::machines()) {
        std::mt19937 random(73);
        for (int repeat = 0; repeat < assay::test::repeats(40); ++repeat) {
            const std::uint64_t sizes[] = {129, 300, 1, 127, 128, 256, 64, 2, 33, 65, 100, 200};
            const std::uint64_t tokens =
                sizes[static_cast<std::size_t>(repeat) % std::size(sizes)];  // each of them
            const std::uint64_t d = 1 + random() % (random() % 5 == 0 ? 140 : 70);
            const std::uint64_t stride = 3 * d + random() % 4;
            INFO(named.name << ", " << tokens << " tokens of " << d << ", repeat " << repeat);
            const Values rows = test::numbers(random, tokens * stride);
            const Values matrix = test::numbers(random, tokens * tokens);
            const HeadShape shape{tokens, d};
            const HeadView a{rows.data(), stride}, b{rows.data() + d, stride};
            const Machine& machine = *named.machine;

            Values expected(tokens * tokens, 7.0F), out = expected;
            law::attention_scores(shape, a, b, expected);
            bool finite = lower_products(machine, shape, a, b, arithmetic::attention_scale(d), out);
            REQUIRE(test::same(expected, out));
            REQUIRE(finite == finite_lower(tokens, expected));
            law::attention_probability_gradient(shape, a, b, expected);
            finite = lower_products(machine, shape, a, b, 1.0F, out);
            REQUIRE(test::same(expected, out));
            REQUIRE(finite == finite_lower(tokens, expected));

            Values o(tokens * d, 3.0F), o2 = o;
            law::attention_values(shape, matrix, b, {o.data(), d});
            finite = rows_times(machine, shape, matrix, b, {o2.data(), d});
            REQUIRE(test::same(o, o2));
            REQUIRE(finite == finite_rows(o));
            for (const ChainStart start : {ChainStart::kZero, ChainStart::kCarry}) {
                law::attention_key_gradient(shape, matrix, a, {o.data(), d}, start);
                finite = columns_times(machine, shape, matrix, a, {o2.data(), d}, start);
                REQUIRE(test::same(o, o2));
                REQUIRE(finite == finite_rows(o));
            }
        }
    }
}

TEST_CASE("what overflows above the diagonal is not an attention's business", "[integer]") {
    const std::uint64_t tokens = 70, d = 2;
    Values q(tokens * d, 1.0F), k(tokens * d, 1.0F), out(tokens * tokens);
    q[0] = 1e30F;                 // the first query …
    k[(tokens - 1) * d] = 1e30F;  // … must not see the last key
    for (const test::Named& named : test::machines()) {
        CHECK(lower_products(*named.machine, {tokens, d}, {q.data(), d}, {k.data(), d}, 1.0F, out));
        q[(tokens - 1) * d] = 1e30F;
        CHECK_FALSE(lower_products(*named.machine, {tokens, d}, {q.data(), d}, {k.data(), d}, 1.0F, out));
        q[(tokens - 1) * d] = 1.0F;
    }
}
}  // namespace assay::trainer::integer
