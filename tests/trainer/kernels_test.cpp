// SPDX-License-Identifier: Apache-2.0
// Every kernel of every target against its definition, bit for bit.
#include "trainer/exact/cpu/kernels.hpp"

#include <bit>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/trainer/small_job.hpp"

namespace assay::trainer {
namespace {

using Values = std::vector<float>;

// Ordinary numbers with zeros of both signs, denormals and large ones among them.
Values numbers(std::mt19937& random, std::size_t count, bool wild = true) {
    std::normal_distribution<float> normal;
    Values values(count);
    for (float& value : values) {
        const auto kind = random() % 40;
        value = normal(random);
        if (!wild) continue;
        if (kind == 0) value = 0.0F;
        if (kind == 1) value = -0.0F;
        if (kind == 2) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0x807fffffU);
        if (kind == 3) value *= 1e15F;
        if (kind == 4) value *= 1e-30F;
    }
    return values;
}

bool same(const Values& a, const Values& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) {
            UNSCOPED_INFO("element " << i << ": " << a[i] << " against " << b[i]);
            return false;
        }
    }
    return true;
}

// Calls check(definition, kernels, random) for every vector target.
template <class Check>
void for_each_target(unsigned seed, int repeats, const Check& check) {
    for (const Target target : test::all_targets()) {
        if (target == Target::kScalar) continue;
        std::mt19937 random(seed);
        for (int i = 0; i < repeats; ++i) {
            INFO("target " << to_text(target) << ", seed " << seed << ", repeat " << i);
            check(kernels(Target::kScalar), kernels(target), random);
        }
    }
}

std::size_t pick(std::mt19937& random, std::size_t most) { return 1 + random() % most; }
}  // namespace

TEST_CASE("products in every layout have the bits of their definition", "[trainer][kernels]") {
    for_each_target(11, 60, [](const Kernels& law, const Kernels& fast, std::mt19937& random) {
        const std::size_t m = pick(random, 70), n = pick(random, 90);
        const std::size_t k = random() % 8 == 0 ? 1 : pick(random, random() % 6 == 0 ? 600 : 80);
        const bool wide = random() % 10 == 0;  // more columns than a block of B has
        const std::size_t columns = wide ? n + 600 : n;
        const Values a = numbers(random, m * k), b = numbers(random, k * columns);
        Values c = numbers(random, m * columns), d = c;
        Product p{m, columns, k, {}, {}, c.data(), columns};
        p.a = random() % 2 == 0 ? MatrixView{a.data(), k, 1} : MatrixView{a.data(), 1, m};
        p.b = random() % 2 == 0 ? MatrixView{b.data(), columns, 1} : MatrixView{b.data(), 1, k};
        p.start = random() % 2 == 0 ? ChainStart::kZero : ChainStart::kCarry;
        law.product(p);
        p.c = d.data();
        fast.product(p);
        INFO(m << "x" << columns << "x" << k);
        REQUIRE(same(c, d));
    });
}

TEST_CASE("pointwise kernels have the bits of their definition", "[trainer][kernels]") {
    for_each_target(12, 60, [](const Kernels& law, const Kernels& fast, std::mt19937& random) {
        const std::size_t n = pick(random, 200);
        const Values x = numbers(random, n), y = numbers(random, n);
        Values a(n), b(n);
        law.gelu_forward(x, a), fast.gelu_forward(x, b);
        REQUIRE(same(a, b));
        law.add(x, y, a), fast.add(x, y, b);
        REQUIRE(same(a, b));
        Values bounded = numbers(random, n, false);
        law.gelu_backward(bounded, y, a), fast.gelu_backward(bounded, y, b);
        REQUIRE(same(a, b));
        Values c = numbers(random, 3 * n), d = c;
        law.add_bias(x, c), fast.add_bias(x, d);
        REQUIRE(same(c, d));
    });
}

TEST_CASE("norms have the bits of their definition", "[trainer][kernels]") {
    for_each_target(13, 60, [](const Kernels& law, const Kernels& fast, std::mt19937& random) {
        const std::size_t n = pick(random, 150), rows = pick(random, 9);
        const Values x = numbers(random, n * rows), dy = numbers(random, n * rows, false);
        const Values gain = numbers(random, n), bias = numbers(random, n);
        Values y1(n * rows), y2(n * rows), m1(rows), m2(rows), r1(rows), r2(rows);
        law.layer_norm_forward(x, gain, bias, y1, {m1, r1});
        fast.layer_norm_forward(x, gain, bias, y2, {m2, r2});
        REQUIRE(same(y1, y2));
        REQUIRE(same(m1, m2));
        REQUIRE(same(r1, r2));
        law.layer_norm_input_gradient(dy, x, gain, {m1, r1}, y1);
        fast.layer_norm_input_gradient(dy, x, gain, {m1, r1}, y2);
        REQUIRE(same(y1, y2));
        Values g1 = numbers(random, n), g2 = g1, b1 = numbers(random, n), b2 = b1;
        law.layer_norm_parameter_gradient({rows, n, n}, dy.data(), x.data(), {m1, r1}, g1.data(), b1.data());
        fast.layer_norm_parameter_gradient({rows, n, n}, dy.data(), x.data(), {m1, r1}, g2.data(), b2.data());
        REQUIRE(same(g1, g2));
        REQUIRE(same(b1, b2));
        law.bias_gradient({rows, n, n}, x.data(), b1.data());
        fast.bias_gradient({rows, n, n}, x.data(), b2.data());
        REQUIRE(same(b1, b2));
    });
}

TEST_CASE("attention has the bits of its definition, forward and backward", "[trainer][kernels]") {
    for_each_target(14, 30, [](const Kernels& law, const Kernels& fast, std::mt19937& random) {
        const std::size_t n = pick(random, 70), d = pick(random, 40), stride = 3 * d + random() % 5;
        const Values qkv = numbers(random, n * stride + 3 * d, random() % 2 == 0);
        const arithmetic::HeadShape shape{n, d};
        const auto third = [&](std::size_t i) { return arithmetic::HeadView{qkv.data() + i * d, stride}; };
        Values a(n * n, 0.0F), b = a, p1 = a, p2 = a, v1(n), v2(n), o1(n * d), o2(n * d);
        law.attention_scores(shape, third(0), third(1), a);
        fast.attention_scores(shape, third(0), third(1), b);
        REQUIRE(same(a, b));
        law.attention_probability_gradient(shape, third(0), third(2), p1);
        fast.attention_probability_gradient(shape, third(0), third(2), p2);
        REQUIRE(same(p1, p2));
        law.softmax_max(n, a, v1), fast.softmax_max(n, a, v2);
        REQUIRE(same(v1, v2));
        law.softmax_exp(n, a, v1, p1), fast.softmax_exp(n, a, v1, p2);
        REQUIRE(same(p1, p2));
        law.softmax_sum(n, p1, v1), fast.softmax_sum(n, p1, v2);
        REQUIRE(same(v1, v2));
        law.softmax_divide(n, p1, v1, p1), fast.softmax_divide(n, p2, v1, p2);
        REQUIRE(same(p1, p2));
        law.attention_values(shape, p1, third(2), {o1.data(), d});
        fast.attention_values(shape, p1, third(2), {o2.data(), d});
        REQUIRE(same(o1, o2));
        law.softmax_dot(n, a, p1, v1), fast.softmax_dot(n, a, p1, v2);
        REQUIRE(same(v1, v2));
        law.softmax_gradient(shape, a, p1, v1, a), fast.softmax_gradient(shape, b, p1, v1, b);
        REQUIRE(same(a, b));
        law.attention_query_gradient(shape, a, third(1), {o1.data(), d});
        fast.attention_query_gradient(shape, a, third(1), {o2.data(), d});
        REQUIRE(same(o1, o2));
        law.attention_key_gradient(shape, a, third(0), {o1.data(), d});
        fast.attention_key_gradient(shape, a, third(0), {o2.data(), d});
        REQUIRE(same(o1, o2));
        law.attention_value_gradient(shape, p1, third(0), {o1.data(), d});
        fast.attention_value_gradient(shape, p1, third(0), {o2.data(), d});
        REQUIRE(same(o1, o2));
    });
}

TEST_CASE("the loss has the bits of its definition", "[trainer][kernels]") {
    for_each_target(15, 60, [](const Kernels& law, const Kernels& fast, std::mt19937& random) {
        const std::size_t v = pick(random, 300), rows = pick(random, 5);
        const Values x = numbers(random, v * rows);
        Values m1(rows), m2(rows), e1(v * rows), e2(v * rows);
        law.loss_max(v, x, m1), fast.loss_max(v, x, m2);
        REQUIRE(same(m1, m2));
        law.loss_exp(v, x, m1, e1), fast.loss_exp(v, x, m1, e2);
        REQUIRE(same(e1, e2));
        law.loss_sum(v, e1, m1), fast.loss_sum(v, e1, m2);
        REQUIRE(same(m1, m2));
        std::vector<std::uint32_t> targets(rows);
        for (auto& target : targets) target = static_cast<std::uint32_t>(random() % v);
        law.loss_gradient(v, 0.01F, e1, m1, targets, e1), fast.loss_gradient(v, 0.01F, e2, m1, targets, e2);
        REQUIRE(same(e1, e2));
    });
}

TEST_CASE("maxima take the lowest index among zeros of both signs", "[trainer][kernels]") {
    for_each_target(16, 60, [](const Kernels& law, const Kernels& fast, std::mt19937& random) {
        const std::size_t v = pick(random, 90);
        Values x(v);
        for (float& value : x) value = random() % 3 == 0 ? -1.0F : (random() % 2 == 0 ? 0.0F : -0.0F);
        Values a(1), b(1);
        law.loss_max(v, x, a), fast.loss_max(v, x, b);
        REQUIRE(same(a, b));
    });
}

TEST_CASE("tile norms and AdamW have the bits of their definition", "[trainer][kernels]") {
    for_each_target(17, 60, [](const Kernels& law, const Kernels& fast, std::mt19937& random) {
        const std::size_t rows = pick(random, 40), cols = pick(random, 400), n = rows * cols;
        const Values g = numbers(random, n, false);
        Values s1(arithmetic::tile_count(rows, cols)), s2 = s1;
        law.square_tiles(rows, cols, g, s1), fast.square_tiles(rows, cols, g, s2);
        REQUIRE(same(s1, s2));
        Values w1 = numbers(random, n), m1 = numbers(random, n), v1 = numbers(random, n);
        for (float& v : v1) v = std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) & 0x7fffffffU);
        Values w2 = w1, m2 = m1, v2 = v1;
        const arithmetic::AdamWCoefficients c{1e-3F, 1e-4F, 0.9F, 0.1F, 0.95F, 0.05F, 2.0F, 3.0F, 1e-8F};
        law.adamw(c, 0.7F, g, w1, m1, v1), fast.adamw(c, 0.7F, g, w2, m2, v2);
        REQUIRE(same(w1, w2));
        REQUIRE(same(m1, m2));
        REQUIRE(same(v1, v2));
    });
}

TEST_CASE("a number that is not finite is found wherever it stands", "[trainer][kernels]") {
    for (const Target target : test::all_targets()) {
        for (std::size_t n = 1; n < 70; ++n) {
            Values x(n, 1e38F);
            REQUIRE(kernels(target).all_finite(x));
            for (std::size_t at = 0; at < n; ++at) {
                x[at] = at % 2 == 0 ? -__builtin_inff() : __builtin_nanf("");
                REQUIRE_FALSE(kernels(target).all_finite(x));
                x[at] = -0.0F;
            }
        }
    }
}

}  // namespace assay::trainer
