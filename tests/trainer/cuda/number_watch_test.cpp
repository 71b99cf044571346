// SPDX-License-Identifier: Apache-2.0
// Kernels note the operator whose numbers are not finite while they write them, or read them anyway: every
// kind of kernel for every output that it has, and nothing of finite numbers.
#include <cmath>

#include "tests/trainer/cuda/cuda_support.hpp"
#include "trainer/cuda/launch/rows.hpp"

namespace assay::trainer::cuda {
namespace {
using test::CardFloats;
using test::in_every_order;
using test::output;
using test::TestStream;

constexpr unsigned kIndex = 5;
constexpr float kHuge = 3e38F;

// What run(watch) notes.
template <class Run>
unsigned noted(const Run& run) {
    test::Note note;
    run(NumberWatch{note.at(), kIndex});
    return note.value();
}
}  // namespace

TEST_CASE("elementwise kernels note a number that is not finite", "[trainer][cuda]") {
    constexpr std::size_t kCount = 300, kBroken = 290;
    const CardFloats ones(2 * kCount, 1.0F);
    const test::CardVector<std::uint32_t> tokens(kCount, 0);
    in_every_order([&](TestStream& stream) {
        // A kernel on ones but for one number of an operand.
        const auto of = [&](PointKind kind, float value, bool in_b) {
            CardFloats a = ones, b = ones, out(2 * kCount, 1.0F);
            (in_b ? b : a)[kBroken] = value;
            return noted([&](NumberWatch watch) {
                run_pointwise(stream, kind,
                              {.count = kCount,
                               .a = a.data(),
                               .b = b.data(),
                               .c = ones.data(),
                               .tokens = tokens.data(),
                               .out = output(out),
                               .cols = kind == PointKind::kEmbedding ? kCount : 1,
                               .context = kind == PointKind::kEmbedding ? 1U : 0U,
                               .number = 1.0F,
                               .watch = watch});
            });
        };
        using enum PointKind;
        for (const PointKind kind :
             {kAdd, kGelu, kGeluGradient, kEmbedding, kExp, kDivide, kSoftmaxGradient, kLossGradient}) {
            INFO("kind " << static_cast<int>(kind));
            REQUIRE(of(kind, 1.5F, false) == kNoOperator);
            REQUIRE(of(kind, INFINITY, false) == kIndex);
        }
        REQUIRE(of(kAdd, -INFINITY, true) == kIndex);
        REQUIRE(of(kEmbedding, std::nanf(""), true) == kIndex);
    });
}

TEST_CASE("kernels of pairs note either number of a pair", "[trainer][cuda]") {
    in_every_order([&](TestStream& stream) {
        // Gate and up of one row, and the gradient of what they make.
        const auto swiglu = [&](PointKind kind, float gate, float up, float d) {
            const CardFloats both = {gate, up}, dy(1, d);
            CardFloats out(2);
            return noted([&](NumberWatch watch) {
                run_pointwise(
                    stream, kind,
                    {.count = 1, .a = both.data(), .b = dy.data(), .out = output(out), .watch = watch});
            });
        };
        REQUIRE(swiglu(PointKind::kSwiGlu, 4.0F, 1e38F, 1.0F) == kIndex);
        REQUIRE(swiglu(PointKind::kSwiGlu, 4.0F, 1.0F, 1.0F) == kNoOperator);
        REQUIRE(swiglu(PointKind::kSwiGluGradient, 1.0F, 1e30F, 1e30F) == kIndex);  // of the gate alone
        REQUIRE(swiglu(PointKind::kSwiGluGradient, 1e30F, 0.0F, 1e30F) == kIndex);  // of up alone
        REQUIRE(swiglu(PointKind::kSwiGluGradient, 1.0F, 1.0F, 1.0F) == kNoOperator);
        const auto rope = [&](PointKind kind, float a, float b) {
            const CardFloats cos(1, 0.75F), sin(1, 0.75F);
            CardFloats x = {a, b};
            return noted([&](NumberWatch watch) {
                run_pointwise(stream, kind,
                              {.count = 1,
                               .a = cos.data(),
                               .b = sin.data(),
                               .out = output(x),
                               .cols = 2,
                               .context = 1,
                               .heads = 1,
                               .head_dim = 2,
                               .watch = watch});
            });
        };
        for (const PointKind kind : {PointKind::kRope, PointKind::kRopeGradient}) {
            REQUIRE(rope(kind, 1.0F, 2.0F) == kNoOperator);
            // One of the two is a difference, the other a sum that overflows.
            REQUIRE(rope(kind, kHuge, kHuge) == kIndex);
            REQUIRE(rope(kind, kHuge, -kHuge) == kIndex);
        }
    });
}

TEST_CASE("kernels of rows note any of their outputs", "[trainer][cuda]") {
    constexpr std::size_t kCols = 40;
    in_every_order([&](TestStream& stream) {
        const auto of = [&](RowKind kind, const CardFloats& a, const CardFloats& gain) {
            const CardFloats ones(kCols, 1.0F);
            CardFloats out(kCols), mean(1), rstd(1);
            return noted([&](NumberWatch watch) {
                run_rows(stream, kind,
                         {.rows = 1,
                          .cols = kCols,
                          .a = a.data(),
                          .b = ones.data(),
                          .gain = gain.data(),
                          .bias = ones.data(),
                          .mean = ones.data(),
                          .rstd = ones.data(),
                          .out = output(out),
                          .mean_out = output(mean),
                          .rstd_out = output(rstd),
                          .epsilon = 1e-5F,
                          .watch = watch});
            });
        };
        const auto numbers = [&](float value) {
            CardFloats all(kCols, 1.0F);
            all[0] = 2.0F;
            all[37] = value;
            return all;
        };
        using enum RowKind;
        const CardFloats ones(kCols, 1.0F);
        for (const RowKind kind :
             {kMax, kSum, kDot, kLayerNorm, kLayerNormGradient, kRmsNorm, kRmsNormGradient}) {
            INFO("kind " << static_cast<int>(kind));
            REQUIRE(of(kind, numbers(3.0F), ones) == kNoOperator);
            REQUIRE(of(kind, numbers(INFINITY), ones) == kIndex);
        }
        // A number of the row alone, by a gain that is too large.
        for (const RowKind kind : {kLayerNorm, kRmsNorm, kLayerNormGradient, kRmsNormGradient}) {
            INFO("kind " << static_cast<int>(kind));
            REQUIRE(of(kind, numbers(3.0F), numbers(kHuge)) == kIndex);
        }
    });
}

TEST_CASE("sums over tokens note what they add to", "[trainer][cuda]") {
    constexpr std::size_t kCols = 40, kBroken = 39;
    const test::CardVector<std::uint32_t> token = {0}, first = {0, 1}, places = {0};
    in_every_order([&](TestStream& stream) {
        const auto columns = [&](ColumnKind kind, float gain, float bias) {
            const CardFloats ones(kCols, 1.0F);
            CardFloats sums(kCols), more(kCols), gains(kCols, 0.0F), biases = gains;
            gains[kBroken] = gain;
            biases[kBroken] = bias;
            return noted([&](NumberWatch watch) {
                column_sums(stream, kind,
                            {.sequences = 1,
                             .context = 1,
                             .cols = kCols,
                             .dy = ones.data(),
                             .x = ones.data(),
                             .mean = ones.data(),
                             .rstd = ones.data(),
                             .gains = output(sums),
                             .biases = output(more),
                             .watch = watch},
                            output(gains), output(biases));
            });
        };
        using enum ColumnKind;
        for (const ColumnKind kind : {kBias, kLayerNorm, kRmsNorm}) {
            REQUIRE(columns(kind, 1.0F, 1.0F) == kNoOperator);
            REQUIRE(columns(kind, INFINITY, 1.0F) == (kind == kBias ? kNoOperator : kIndex));
            REQUIRE(columns(kind, 1.0F, INFINITY) == (kind == kRmsNorm ? kNoOperator : kIndex));
        }
        const auto embedding = [&](float value) {
            CardFloats dx(kCols, 1.0F), out(kCols, 0.0F);
            dx[kBroken] = value;
            return noted([&](NumberWatch watch) {
                embedding_gradient(stream, {.context = 1,
                                            .cols = kCols,
                                            .tokens = 1,
                                            .token = token.data(),
                                            .first = first.data(),
                                            .places = places.data(),
                                            .dx = dx.data(),
                                            .out = output(out),
                                            .watch = watch});
            });
        };
        REQUIRE((embedding(1.0F) == kNoOperator && embedding(INFINITY) == kIndex));
        const auto losses = [&](float value) {
            const CardFloats loss(1, value);
            CardFloats sums(1), total(1, 0.0F), mean(1);
            return noted([&](NumberWatch watch) {
                loss_total(stream,
                           {1, 1, loss.data(), output(sums), output(total), output(mean), 0.5F, watch});
            });
        };
        REQUIRE((losses(kHuge) == kNoOperator && losses(std::nanf("")) == kIndex));
        const auto tokens = [&](float value) {
            const CardFloats logits(1, value), ones(1, 1.0F);
            CardFloats loss(1);
            return noted([&](NumberWatch watch) {
                loss_tokens(stream, {1, 1, logits.data(), ones.data(), ones.data(), token.data(),
                                     output(loss), watch});
            });
        };
        REQUIRE((tokens(2.0F) == kNoOperator && tokens(INFINITY) == kIndex));
    });
}

TEST_CASE("the norm notes gradients that it reads, and itself", "[trainer][cuda]") {
    in_every_order([&](TestStream& stream) {
        const auto tiles = [&](float value) {
            CardFloats g(17 * 17, 1.0F), sums(4);
            g[17 * 16] = value;
            return noted([&](NumberWatch watch) {
                const SquareMatrix one{.rows = 17, .cols = 17, .g = g.data(), .index = watch.index};
                square_tiles(stream, {&one, 1}, output(sums), watch.diverged);
            });
        };
        // The square of a finite number may be infinite: that is the norm's.
        REQUIRE((tiles(kHuge) == kNoOperator && tiles(-INFINITY) == kIndex));
        const auto norm = [&](float value) {
            CardFloats sums(3, value), other(tree_scratch(3)), root(1);
            return noted([&](NumberWatch watch) {
                norm_of_tiles(stream, output(sums), output(other), output(root), watch);
            });
        };
        REQUIRE((norm(1e38F) == kNoOperator && norm(kHuge) == kIndex));
    });
}

TEST_CASE("an update that is written in any case notes its weight or either moment", "[trainer][cuda]") {
    arithmetic::AdamWCoefficients c{.learning_rate = 0.0F,
                                    .decay = 0.0F,
                                    .beta1 = 0.9F,
                                    .one_minus_beta1 = 0.1F,
                                    .beta2 = 0.95F,
                                    .one_minus_beta2 = 0.05F,
                                    .correction1 = 1.9F,
                                    .correction2 = 3.1F,
                                    .epsilon = 1e-8F};
    in_every_order([&](TestStream& stream) {
        const auto of = [&](float weight, float first, float second) {
            const CardFloats one(1, 1.0F);
            CardFloats w(1, weight), m(1, first), v(1, second);
            return noted([&](NumberWatch watch) {
                const AdamWArgs args{1,         c,         one.data(),     one.data(), output(w),
                                     output(m), output(v), watch.diverged, watch.index};
                adamw(stream, UpdatePass::kAlways, {&args, 1});
            });
        };
        REQUIRE(of(1.0F, 1.0F, 1.0F) == kNoOperator);
        REQUIRE(of(INFINITY, 1.0F, 1.0F) == kIndex);
        REQUIRE(of(1.0F, 1.0F, INFINITY) == kIndex);
        c.beta1 = 2.0F;
        REQUIRE(of(1.0F, kHuge, 1.0F) == kIndex);
        c.beta1 = 0.9F;
    });
}

}  // namespace assay::trainer::cuda
