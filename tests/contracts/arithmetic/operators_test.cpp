// SPDX-License-Identifier: Apache-2.0
// Order of sums, edges and carried accumulators. Gradients are checked against finite differences as whole
// steps in tests/contracts/program/gradient_test.cpp.
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/embedding.hpp"
#include "contracts/arithmetic/layer_norm.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/product.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "tests/contracts/arithmetic/floats.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::arithmetic;
using assay::test::bits;
using assay::test::random_floats;

}  // namespace

TEST_CASE("a lane sum adds 32 strided chains and then halves") {
    // 2^24 swallows each 1 that meets it alone, so the result tells which order was taken.
    std::vector<float> x(65, 0.0F);
    x[0] = 16777216.0F;
    x[32] = 1.0F;
    x[64] = 1.0F;
    CHECK(lane_sum(x) == 16777216.0F);  // lane 0: (2^24 + 1) + 1
    std::vector<float> y(64, 0.0F);
    y[0] = 16777216.0F;
    y[1] = 1.0F;
    y[17] = 1.0F;
    CHECK(lane_sum(y) == 16777218.0F);  // lanes 1 and 17 meet at s = 16, before they reach lane 0
    CHECK(bits(lane_sum({})) == 0);
    CHECK(bits(lane_sum(std::array{-0.0F})) == 0);  // +0 + −0
    CHECK(lane_dot(std::array{1.0F + 0x1p-23F}, std::array{1.0F - 0x1p-23F}) == 1.0F - 0x1p-46F);
}

TEST_CASE("the largest of equals is the first, and zeros are equal") {
    CHECK(max_index(std::array{1.0F, 3.0F, 3.0F}) == 1);
    CHECK(max_index(std::array{-0.0F, 0.0F}) == 0);
    CHECK(max_index(std::array{0.0F, -0.0F}) == 0);
}

TEST_CASE("the finite check sees infinities and NaNs and nothing else") {
    CHECK(all_finite(std::array{0.0F, -0.0F, 1e-45F, std::numeric_limits<float>::max()}));
    CHECK_FALSE(all_finite(std::array{0.0F, std::numeric_limits<float>::infinity()}));
    CHECK_FALSE(all_finite(std::array{-std::numeric_limits<float>::infinity()}));
    CHECK_FALSE(all_finite(std::array{std::numeric_limits<float>::quiet_NaN()}));
}

TEST_CASE("the tree adds neighbours and carries an odd last one up") {
    std::array<float, 3> x{16777216.0F, 1.0F, 1.0F};
    CHECK(tree_sum(x) == 16777216.0F);
    std::array<float, 3> y{1.0F, 1.0F, 16777216.0F};
    CHECK(tree_sum(y) == 16777218.0F);
}

TEST_CASE("products are fma chains from +0, also for k = 1, zeros of both signs and denormals") {
    std::array<float, 1> c{};
    product_nn({1, 1, 1}, std::array{-0.0F}, std::array{1.0F}, c);
    CHECK(bits(c[0]) == 0);  // fma(−0, 1, +0) = +0
    product_nn({1, 1, 1}, std::array{1e-45F}, std::array{0.75F}, c);
    CHECK(c[0] == 1e-45F);
    product_nn({1, 1, 2}, std::array{1.0F + 0x1p-12F, -1.0F}, std::array{1.0F + 0x1p-12F, 1.0F + 0x1p-11F},
               c);
    CHECK(c[0] == 0.0F);  // the first term is rounded when it enters the chain
    product_nn({1, 1, 2}, std::array{-1.0F, 1.0F + 0x1p-12F}, std::array{1.0F + 0x1p-11F, 1.0F + 0x1p-12F},
               c);
    CHECK(c[0] == 0x1p-24F);  // the second is not
}

TEST_CASE("the three layouts of a product agree with each other bit for bit") {
    std::mt19937_64 random(11);
    for (const ProductShape s : {ProductShape{3, 5, 7}, ProductShape{1, 1, 1}, ProductShape{17, 2, 33}}) {
        const auto a = random_floats(random, s.m * s.k);
        const auto b = random_floats(random, s.k * s.n);
        std::vector<float> at(a.size());
        std::vector<float> bt(b.size());
        for (std::size_t i = 0; i < s.m; ++i) {
            for (std::size_t k = 0; k < s.k; ++k) at[k * s.m + i] = a[i * s.k + k];
        }
        for (std::size_t j = 0; j < s.n; ++j) {
            for (std::size_t k = 0; k < s.k; ++k) bt[j * s.k + k] = b[k * s.n + j];
        }
        std::vector<float> nn(s.m * s.n);
        std::vector<float> nt(s.m * s.n);
        std::vector<float> tn(s.m * s.n, 0.0F);
        product_nn(s, a, b, nn);
        product_nt(s, a, bt, nt);
        product_tn_carry(s, at, b, tn);
        CHECK(nn == nt);
        CHECK(nn == tn);
    }
}

TEST_CASE("a weight gradient carried over two micro-batches has the bits of one") {
    std::mt19937_64 random(12);
    const auto x = random_floats(random, 10 * 4);
    const auto dy = random_floats(random, 10 * 3);
    std::vector<float> whole(12, 0.0F);
    std::vector<float> split(12, 0.0F);
    product_tn_carry({4, 3, 10}, x, dy, whole);
    product_tn_carry({4, 3, 6}, std::span(x).first(24), std::span(dy).first(18), split);
    product_tn_carry({4, 3, 4}, std::span(x).subspan(24), std::span(dy).subspan(18), split);
    CHECK(whole == split);
}

TEST_CASE("bias gradients chain over a sequence first and then over sequences") {
    std::vector<float> db{0.0F};
    bias_gradient_carry(std::array{16777216.0F}, db);
    bias_gradient_carry(std::array{1.0F, 1.0F}, db);
    CHECK(db[0] == 16777218.0F);
}

TEST_CASE("layer norm gives rows of mean bias and deviation gain") {
    std::mt19937_64 random(13);
    const auto x = random_floats(random, 2 * 37);
    const std::vector<float> gain(37, 2.0F);
    const std::vector<float> bias(37, 0.5F);
    std::vector<float> y(x.size());
    std::vector<float> mean(2);
    std::vector<float> rstd(2);
    layer_norm_forward(x, gain, bias, y, {mean, rstd});
    for (std::size_t t = 0; t < 2; ++t) {
        double sum = 0;
        double squares = 0;
        for (std::size_t i = 0; i < 37; ++i) sum += static_cast<double>(y[t * 37 + i]);
        for (std::size_t i = 0; i < 37; ++i) {
            squares += std::pow(static_cast<double>(y[t * 37 + i]) - 0.5, 2.0);
        }
        CHECK(sum / 37 == Approx(0.5).epsilon(1e-5));
        CHECK(squares / 37 == Approx(4.0).epsilon(1e-3));
    }
}

TEST_CASE("attention reads no key after its query and writes nothing above the diagonal") {
    std::mt19937_64 random(14);
    constexpr HeadShape kShape{5, 3};
    auto qkv = random_floats(random, 5 * 9);
    const auto run = [&] {
        const float* base = qkv.data();
        std::vector<float> s(25, 77.0F);
        std::vector<float> max(5);
        std::vector<float> sum(5);
        std::vector<float> o(15);
        attention_scores(kShape, {base, 9}, {base + 3, 9}, s);
        CHECK(s[1] == 77.0F);
        softmax_max(5, s, max);
        softmax_exp(5, s, max, s);
        softmax_sum(5, s, sum);
        softmax_divide(5, s, sum, s);
        CHECK(s[4] == 77.0F);
        CHECK(s[0] == 1.0F);
        attention_values(kShape, s, {base + 6, 9}, {o.data(), 3});
        return o;
    };
    const auto before = run();
    for (std::size_t i = 4 * 9; i < 5 * 9; ++i) qkv[i] = 100.0F;
    const auto after = run();
    CHECK(std::vector<float>(before.begin(), before.begin() + 12) ==
          std::vector<float>(after.begin(), after.begin() + 12));
    CHECK(std::vector<float>(before.begin() + 12, before.end()) !=
          std::vector<float>(after.begin() + 12, after.end()));
}

TEST_CASE("embedding gradients sum a token's places within a sequence before they join the rest") {
    std::vector<float> dwte{16777216.0F, -0.0F};
    std::vector<float> dwpe(3, 0.0F);
    embedding_gradient_carry(1, std::array<std::uint32_t, 3>{0, 0, 0}, std::array{1.0F, 1.0F, 0.5F}, dwte,
                             dwpe);
    CHECK(dwte[0] == 16777218.0F);
    CHECK(bits(dwte[1]) == bits(-0.0F));  // a token that does not occur is left alone
    CHECK(dwpe == std::vector<float>{1.0F, 1.0F, 0.5F});
}

TEST_CASE("cross-entropy of equal logits is log V, and its gradient sums to about zero") {
    const std::vector<float> logits(3 * 8, 2.5F);
    const std::array<std::uint32_t, 3> targets{0, 7, 3};
    std::vector<float> max(3);
    std::vector<float> e(24);
    std::vector<float> sum(3);
    std::vector<float> loss(3);
    std::vector<float> gradient(24);
    loss_max(8, logits, max);
    loss_exp(8, logits, max, e);
    loss_sum(8, e, sum);
    loss_tokens(8, logits, max, sum, targets, loss);
    loss_gradient(8, reciprocal(3), e, sum, targets, gradient);
    for (const float one : loss) CHECK(one == Approx(std::log(8.0)).epsilon(1e-6));
    CHECK(gradient[7] == 0.125F * reciprocal(3));
    CHECK(gradient[8 + 7] == (0.125F - 1.0F) * reciprocal(3));
}

TEST_CASE("the clip scalar is one below the limit") {
    CHECK(clip_scale(0.5F, 1.0F) == 1.0F);
    CHECK(clip_scale(0.0F, 1.0F) == 1.0F);
    CHECK(clip_scale(4.0F, 1.0F) == 1.0F / (4.0F + 1e-6F));
}

TEST_CASE("a first AdamW step moves against the gradient by the learning rate and decays the weight") {
    const AdamWCoefficients c{.learning_rate = 0.01F,
                              .decay = 0.001F,
                              .beta1 = 0.9F,
                              .one_minus_beta1 = 0.1F,
                              .beta2 = 0.95F,
                              .one_minus_beta2 = 0.05F,
                              .correction1 = 10.0F,
                              .correction2 = 20.0F,
                              .epsilon = 1e-8F};
    std::array<float, 2> w{1.0F, 1.0F};
    std::array<float, 2> m{};
    std::array<float, 2> v{};
    adamw(c, 1.0F, std::array{0.3F, -0.3F}, w, m, v);
    CHECK(w[0] == Approx(0.999 - 0.01).epsilon(1e-6));
    CHECK(w[1] == Approx(0.999 + 0.01).epsilon(1e-6));
    CHECK(m[0] == 0.1F * 0.3F);
    CHECK(v[0] == (0.05F * 0.3F) * 0.3F);
}

TEST_CASE("the norm of tiles is the norm of the matrix, also for ragged tiles") {
    std::mt19937_64 random(15);
    const auto g = random_floats(random, 19 * 35);
    std::vector<float> sums(tile_count(19, 35));
    REQUIRE(sums.size() == 6);
    square_tiles(19, 35, g, sums);
    double wanted = 0;
    for (const float x : g) wanted += static_cast<double>(x) * static_cast<double>(x);
    CHECK(norm_of_tiles(sums) == Approx(std::sqrt(wanted)).epsilon(1e-6));
}

TEST_CASE("GELU is near zero far left, the identity far right, and its slope follows") {
    const std::array x{-20.0F, -1.0F, -0.0F, 1.0F, 20.0F};
    std::array<float, 5> y{};
    std::array<float, 5> dx{};
    gelu_forward(x, y);
    gelu_backward(x, std::array{1.0F, 1.0F, 1.0F, 1.0F, 1.0F}, dx);
    CHECK(y[0] == 0.0F);
    CHECK(y[1] == Approx(-0.158808).epsilon(1e-5));
    CHECK(y[3] == Approx(0.841192).epsilon(1e-5));
    CHECK(y[4] == 20.0F);
    CHECK(dx[0] == 0.0F);
    CHECK(dx[2] == 0.5F);
    CHECK(dx[3] == Approx(1.082964).epsilon(1e-5));
    CHECK(dx[4] == 1.0F);
}
