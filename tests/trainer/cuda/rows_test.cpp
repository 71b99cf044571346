// SPDX-License-Identifier: Apache-2.0
// Kernels that are no products, on hard numbers, against their definitions in every order of threads. (Whole
// steps, with every operator in its place, are in cuda_host_device_test.cpp.)
#include "trainer/cuda/launch/rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/embedding.hpp"
#include "contracts/arithmetic/layer_norm.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/product.hpp"
#include "contracts/arithmetic/rms_norm.hpp"
#include "contracts/arithmetic/swiglu.hpp"
#include "tests/trainer/cuda/cuda_support.hpp"

namespace assay::trainer::cuda {
namespace {
using test::CardFloats;
using test::in_every_order;
using test::is_found;
using test::numbers;
using test::output;
using test::same;
using test::start;
using test::TestStream;

// Checks in every order that run(stream, out) leaves what the law left in `wanted`; `before` is what lies
// there.
template <class Run>
void require_law(const CardFloats& wanted, const CardFloats& before, const Run& run) {
    in_every_order([&](TestStream& stream) {
        CardFloats out = before;
        run(stream, out);
        REQUIRE(same(out, wanted));
    });
}
}  // namespace

TEST_CASE("elementwise kernels have the law's bits", "[trainer][cuda]") {
    std::mt19937 random(41);
    for (const std::size_t count : {1U, 31U, 255U, 1000U, 2048U, 5000U}) {
        const CardFloats x = numbers(random, count), y = numbers(random, count),
                         both = numbers(random, 2 * count);
        const CardFloats none(count), wide(2 * count);
        CardFloats law(count), law_wide(2 * count);
        const auto point = [&](PointKind kind, const CardFloats& a, const CardFloats& b, std::uint64_t cols) {
            return [&, kind, cols](TestStream& stream, CardFloats& out) {
                run_pointwise(
                    stream, kind,
                    {.count = count, .a = a.data(), .b = b.data(), .out = output(out), .cols = cols});
            };
        };
        arithmetic::add(x, y, law);
        require_law(law, none, point(PointKind::kAdd, x, y, 1));
        arithmetic::gelu_forward(x, law);
        require_law(law, none, point(PointKind::kGelu, x, y, 1));
        arithmetic::gelu_backward(x, y, law);
        require_law(law, none, point(PointKind::kGeluGradient, x, y, 1));
        arithmetic::swiglu_forward(count, both, law);
        require_law(law, none, point(PointKind::kSwiGlu, both, y, count));
        arithmetic::swiglu_backward(count, both, y, law_wide);
        require_law(law_wide, wide, point(PointKind::kSwiGluGradient, both, y, count));
    }
}

TEST_CASE("elementwise kernels have the law's bits wherever their operands lie", "[trainer][cuda]") {
    constexpr std::size_t kCount = 4100;
    std::mt19937 random(57);
    const CardFloats x = numbers(random, kCount + 1), y = numbers(random, kCount + 1);
    for (const auto& [a, b, to] : {std::array{0U, 0U, 0U}, {1U, 0U, 0U}, {0U, 1U, 0U}, {0U, 0U, 1U}}) {
        CardFloats law[3] = {CardFloats(kCount), CardFloats(kCount), CardFloats(kCount)};
        const auto left = std::span(x).subspan(a, kCount), right = std::span(y).subspan(b, kCount);
        arithmetic::add(left, right, law[0]);
        arithmetic::gelu_forward(left, law[1]);
        arithmetic::gelu_backward(left, right, law[2]);
        in_every_order([&, a = a, b = b, to = to](TestStream& stream) {
            const PointKind kinds[] = {PointKind::kAdd, PointKind::kGelu, PointKind::kGeluGradient};
            for (unsigned k = 0; k < 3; ++k) {
                CardFloats out(to + kCount);
                PointArgs args{.count = kCount, .a = x.data() + a, .b = y.data() + b, .out = output(out)};
                args.out.data = out.data() + to;
                args.out.count = kCount;
                if (kinds[k] == PointKind::kGelu) args.b = nullptr;
                run_pointwise(stream, kinds[k], args);
                test::settle();
                REQUIRE(same(CardFloats(out.begin() + to, out.end()), law[k]));
            }
        });
    }
    // In place, with a number that is not finite in each part of a block.
    in_every_order([&](TestStream& stream) {
        for (const std::size_t at : {3U, 1030U, 2047U, 2060U, 4099U}) {
            CardFloats own(x.begin(), x.begin() + kCount);
            own[at] = INFINITY;
            test::Note note;
            run_pointwise(stream, PointKind::kAdd,
                          {.count = kCount,
                           .a = own.data(),
                           .b = y.data(),
                           .out = output(own),
                           .watch = {note.at(), 4}});
            REQUIRE(note.value() == 4);
        }
    });
}

TEST_CASE("norms have the law's bits, and their gradients", "[trainer][cuda]") {
    std::mt19937 random(42);
    // Among wild numbers the largest hides how the others were rounded; rows of 200 give each lane several.
    for (const std::size_t cols : {1U, 31U, 32U, 33U, 100U, 200U}) {
        const std::size_t row_count = cols == 200 ? 150 : 11;
        const test::Draw draw = cols == 200 ? test::Draw::kTame : test::Draw::kWild;
        const CardFloats x = numbers(random, row_count * cols, draw),
                         dy = numbers(random, row_count * cols, draw);
        const CardFloats gain = numbers(random, cols, draw), bias = numbers(random, cols, draw);
        CardFloats y(x.size()), mean(row_count), rstd(row_count), dx(x.size()), rms(x.size()),
            rms_rstd(row_count), rms_dx(x.size());
        arithmetic::layer_norm_forward(x, gain, bias, y, {mean, rstd});
        arithmetic::layer_norm_input_gradient(dy, x, gain, {mean, rstd}, dx);
        arithmetic::rms_norm_forward(1e-5F, x, gain, rms, rms_rstd);
        arithmetic::rms_norm_input_gradient(dy, x, gain, rms_rstd, rms_dx);
        in_every_order([&](TestStream& stream) {
            CardFloats out(x.size()), means(row_count), rstds(row_count);
            RowArgs args{.rows = row_count,
                         .cols = cols,
                         .a = x.data(),
                         .gain = gain.data(),
                         .bias = bias.data(),
                         .out = output(out),
                         .mean_out = output(means),
                         .rstd_out = output(rstds),
                         .epsilon = arithmetic::kLayerNormEpsilon};
            run_rows(stream, RowKind::kLayerNorm, args);
            REQUIRE((same(out, y) && same(means, mean) && same(rstds, rstd)));
            args.epsilon = 1e-5F;
            run_rows(stream, RowKind::kRmsNorm, args);
            REQUIRE((same(out, rms) && same(rstds, rms_rstd)));
            args.a = dy.data();
            args.b = x.data();
            args.mean = mean.data();
            args.rstd = rstd.data();
            run_rows(stream, RowKind::kLayerNormGradient, args);
            REQUIRE(same(out, dx));
            args.rstd = rms_rstd.data();
            run_rows(stream, RowKind::kRmsNormGradient, args);
            REQUIRE(same(out, rms_dx));
        });
    }
}

TEST_CASE("a row's maximum is the first among equals, and its sums follow the 32 lanes", "[trainer][cuda]") {
    std::mt19937 random(43);
    for (const std::size_t cols : {1U, 2U, 31U, 33U, 500U}) {
        constexpr std::size_t kRows = 9;
        CardFloats a = numbers(random, kRows * cols);
        const CardFloats b = numbers(random, kRows * cols);
        // A row of zeros of both signs, and one of minus infinity but for zeros at its end.
        for (std::size_t i = 0; i < cols; ++i) a[i] = random() % 2 == 0 ? 0.0F : -0.0F;
        for (std::size_t i = 0; i + 2 < cols; ++i) a[cols + i] = -INFINITY;
        a[2 * cols - 1] = -0.0F;
        CardFloats max(kRows), sum(kRows);
        arithmetic::loss_max(cols, a, max);
        arithmetic::loss_sum(cols, b, sum);
        const auto rows = [&](RowKind kind, const CardFloats& of) {
            return [&, kind](TestStream& stream, CardFloats& out) {
                run_rows(stream, kind, {.rows = kRows, .cols = cols, .a = of.data(), .out = output(out)});
            };
        };
        require_law(max, CardFloats(kRows), rows(RowKind::kMax, a));
        require_law(sum, CardFloats(kRows), rows(RowKind::kSum, b));
    }
}

TEST_CASE("of zeros of both signs the first is the largest", "[trainer][cuda]") {
    std::mt19937 random(52);
    constexpr std::size_t kRows = 64;
    for (const std::size_t cols : {2U, 33U, 100U}) {
        CardFloats zeros(kRows * cols), law(kRows);
        for (float& zero : zeros) zero = random() % 2 == 0 ? 0.0F : random() % 8 == 0 ? -1.0F : -0.0F;
        arithmetic::loss_max(cols, zeros, law);
        require_law(law, CardFloats(kRows), [&, cols](TestStream& stream, CardFloats& out) {
            run_rows(stream, RowKind::kMax,
                     {.rows = kRows, .cols = cols, .a = zeros.data(), .out = output(out)});
        });
    }
}

namespace {
// Among wild numbers the largest hides how the others were rounded.
void check_softmax(std::size_t tokens, test::Draw draw) {
    std::mt19937 random(44);
    const arithmetic::HeadShape head{tokens, 16};
    const CardFloats scores = numbers(random, tokens * tokens, draw),
                     dp = numbers(random, tokens * tokens, draw);
    const CardFloats before = numbers(random, tokens * tokens, draw);
    CardFloats max(tokens), e = before, sum(tokens), p = before, dot(tokens), ds = before;
    arithmetic::softmax_max(tokens, scores, max);
    arithmetic::softmax_exp(tokens, scores, max, e);
    arithmetic::softmax_sum(tokens, e, sum);
    arithmetic::softmax_divide(tokens, e, sum, p);
    arithmetic::softmax_dot(tokens, dp, p, dot);
    arithmetic::softmax_gradient(head, dp, p, dot, ds);
    const auto rows = [&](RowKind kind, const CardFloats& a, const CardFloats& b) {
        return [&, kind](TestStream& stream, CardFloats& out) {
            run_rows(stream, kind,
                     {.rows = tokens,
                      .cols = tokens,
                      .context = tokens,
                      .a = a.data(),
                      .b = b.data(),
                      .out = output(out)});
        };
    };
    const auto points = [&](PointKind kind, const CardFloats& a, const CardFloats& b) {
        return [&, kind](TestStream& stream, CardFloats& out) {
            run_pointwise(stream, kind,
                          {.count = tokens * tokens,
                           .a = a.data(),
                           .b = b.data(),
                           .c = dot.data(),
                           .out = output(out),
                           .cols = tokens,
                           .context = tokens,
                           .number = arithmetic::attention_scale(16)});
        };
    };
    require_law(max, CardFloats(tokens), rows(RowKind::kMax, scores, scores));
    require_law(e, before, points(PointKind::kExp, scores, max));
    require_law(sum, CardFloats(tokens), rows(RowKind::kSum, e, e));
    require_law(p, before, points(PointKind::kDivide, e, sum));
    require_law(dot, CardFloats(tokens), rows(RowKind::kDot, dp, p));
    require_law(ds, before, points(PointKind::kSoftmaxGradient, dp, p));
}
}  // namespace

TEST_CASE("softmax of attention looks at no key beyond the query", "[trainer][cuda]") {
    check_softmax(37, test::Draw::kWild);
    check_softmax(101, test::Draw::kTame);
}

TEST_CASE("cross-entropy over a large vocabulary has the law's bits", "[trainer][cuda]") {
    std::mt19937 random(45);
    constexpr std::size_t kRows = 3, kWords = 50257;
    const CardFloats logits = numbers(random, kRows * kWords, test::Draw::kTame);
    const test::CardVector<std::uint32_t> targets = {0, 50256, 777};
    CardFloats max(kRows), e(logits.size()), sum(kRows), losses(kRows), gradient(logits.size());
    arithmetic::loss_max(kWords, logits, max);
    arithmetic::loss_exp(kWords, logits, max, e);
    arithmetic::loss_sum(kWords, e, sum);
    arithmetic::loss_tokens(kWords, logits, max, sum, targets, losses);
    arithmetic::loss_gradient(kWords, arithmetic::reciprocal(300), e, sum, targets, gradient);
    const float total = arithmetic::loss_total_carry(losses, 2.5F);
    TestStream stream = test::one_stream();
    CardFloats out(logits.size()), thin(kRows), loss(1), so_far(1, 2.5F), sums(1);
    run_rows(stream, RowKind::kMax, {.rows = kRows, .cols = kWords, .a = logits.data(), .out = output(thin)});
    REQUIRE(same(thin, max));
    PointArgs args{.count = logits.size(),
                   .a = logits.data(),
                   .b = max.data(),
                   .tokens = targets.data(),
                   .out = output(out),
                   .cols = kWords,
                   .number = arithmetic::reciprocal(300)};
    run_pointwise(stream, PointKind::kExp, args);
    REQUIRE(same(out, e));
    run_rows(stream, RowKind::kSum, {.rows = kRows, .cols = kWords, .a = e.data(), .out = output(thin)});
    REQUIRE(same(thin, sum));
    loss_tokens(stream, {kRows, kWords, logits.data(), max.data(), sum.data(), targets.data(), output(thin)});
    REQUIRE(same(thin, losses));
    loss_total(stream, {1, kRows, losses.data(), output(sums), output(so_far), output(loss), 0.5F});
    test::settle();
    REQUIRE(same({so_far[0], loss[0]}, {total, total * 0.5F}));
    args.a = e.data();
    args.b = sum.data();
    run_pointwise(stream, PointKind::kLossGradient, args);
    REQUIRE(same(out, gradient));
    REQUIRE_FALSE(stream.faults().any());
}

namespace {
constexpr std::size_t kSequences = 3, kContext = 13, kCols = 150;

// Places of each token that occurs, ascending.
struct SortedTokens {
    test::CardVector<std::uint32_t> token, first, places;
    explicit SortedTokens(const test::CardVector<std::uint32_t>& tokens) : places(tokens.size()) {
        std::iota(places.begin(), places.end(), 0U);
        std::stable_sort(places.begin(), places.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return tokens[a] < tokens[b]; });
        for (std::uint32_t i = 0; i < places.size(); ++i) {
            if (i > 0 && tokens[places[i]] == token.back()) continue;
            token.push_back(tokens[places[i]]);
            first.push_back(i);
        }
        first.push_back(static_cast<std::uint32_t>(places.size()));
    }
};

// Gradients of the parameters of norms and of a bias, over sequences one after another.
struct ColumnCase {
    std::size_t context, rows = kSequences * context;
    test::Draw draw;
    std::mt19937 random{47};
    CardFloats dy = numbers(random, rows*kCols, draw), x = numbers(random, rows*kCols, draw);
    CardFloats mean = numbers(random, rows, draw), rstd = numbers(random, rows, draw);
    CardFloats before = numbers(random, kCols, draw);
    CardFloats gain = before, bias = before, rms = before, plain = before;
    explicit ColumnCase(std::size_t of = kContext, test::Draw drawn = test::Draw::kWild)
        : context(of), draw(drawn) {
        for (std::size_t s = 0; s < kSequences; ++s) {
            const auto wide = [&](const CardFloats& all) {
                return std::span(all).subspan(s * context * kCols, context * kCols);
            };
            const auto thin = [&](const CardFloats& all) {
                return std::span(all).subspan(s * context, context);
            };
            arithmetic::layer_norm_parameter_gradient_carry(wide(dy), wide(x), {thin(mean), thin(rstd)}, gain,
                                                            bias);
            arithmetic::rms_norm_parameter_gradient_carry(wide(dy), wide(x), thin(rstd), rms);
            arithmetic::bias_gradient_carry(wide(dy), plain);
        }
    }
    ColumnArgs args(CardFloats& sums, CardFloats& more) const {
        return {kSequences,  context,     kCols,        dy.data(),   x.data(),
                mean.data(), rstd.data(), output(sums), output(more)};
    }
};

struct LossCase {
    std::mt19937 random{51};
    CardFloats losses = numbers(random, kSequences*kContext, test::Draw::kTame), wanted = {2.5F, 0.0F};
    LossCase() {
        for (std::size_t s = 0; s < kSequences; ++s) {
            const auto one = std::span(losses).subspan(s * kContext, kContext);
            wanted[0] = arithmetic::loss_total_carry(one, wanted[0]);
        }
        wanted[1] = wanted[0] * 0.3F;
    }
    template <class Run>
    bool is_right(const Run& run) const {
        CardFloats sums(kSequences), total(1, 2.5F), loss(1);
        run(LossTotalArgs{kSequences, kContext, losses.data(), output(sums), output(total), output(loss),
                          0.3F});
        test::settle();
        return same({total[0], loss[0]}, wanted);
    }
};

struct EmbeddingCase {
    static constexpr std::size_t kWords = 7;
    std::mt19937 random{46};
    CardFloats dx = numbers(random, kSequences*kContext*kCols), before = numbers(random, kWords*kCols);
    test::CardVector<std::uint32_t> tokens = test::CardVector<std::uint32_t>(kSequences * kContext);
    CardFloats wanted = before;
    EmbeddingCase() {
        for (std::uint32_t& token : tokens) token = static_cast<std::uint32_t>(random() % (kWords - 1));
        for (std::size_t s = 0; s < kSequences; ++s) {
            arithmetic::embedding_gradient_carry(
                kCols, std::span(tokens).subspan(s * kContext, kContext),
                std::span(dx).subspan(s * kContext * kCols, kContext * kCols), wanted);
        }
    }
    template <class Run>
    bool is_right(const Run& run) const {
        const SortedTokens sorted(tokens);
        CardFloats out = before;
        run(EmbeddingGradientArgs{kContext, kCols, sorted.token.size(), sorted.token.data(),
                                  sorted.first.data(), sorted.places.data(), dx.data(), output(out)});
        return same(out, wanted);
    }
};
}  // namespace

namespace {
void require_sums_over_tokens(const ColumnCase& columns) {
    in_every_order([&](TestStream& stream) {
        const auto check = [&](ColumnKind kind, const CardFloats& wanted_gain,
                               const CardFloats& wanted_bias) {
            CardFloats sums(kSequences * kCols), more = sums, a = columns.before, b = a;
            column_sums(stream, kind, columns.args(sums, more), output(a), output(b));
            REQUIRE((same(a, wanted_gain) && same(b, wanted_bias)));
        };
        check(ColumnKind::kLayerNorm, columns.gain, columns.bias);
        check(ColumnKind::kRmsNorm, columns.rms, columns.before);
        check(ColumnKind::kBias, columns.before, columns.plain);
    });
}
}  // namespace

TEST_CASE("sums over tokens ascend in stages that are whole, and in the last one", "[trainer][cuda]") {
    // One stage and no more; one more than are held at a time, and a part. Long chains of wild numbers are
    // infinite in any order.
    constexpr std::size_t kStage = ColumnChains<ColumnKind::kBias>::kRows;
    constexpr std::size_t kHeld = ColumnChains<ColumnKind::kBias>::kStages;
    for (const std::size_t context : {kStage, (kHeld + 1) * kStage + 7})
        require_sums_over_tokens(ColumnCase(context, test::Draw::kTame));
}

TEST_CASE("sums over tokens go sequence by sequence", "[trainer][cuda]") {
    require_sums_over_tokens(ColumnCase());
    const LossCase loss;
    in_every_order([&](TestStream& stream) {
        REQUIRE(loss.is_right([&](const LossTotalArgs& args) { loss_total(stream, args); }));
    });
    const EmbeddingCase one;
    in_every_order([&](TestStream& stream) {
        REQUIRE(one.is_right([&](const EmbeddingGradientArgs& args) { embedding_gradient(stream, args); }));
    });
}

TEST_CASE("mutants of the other kernels are found", "[trainer][cuda]") {
    std::mt19937 random(50);
    const CardFloats x = numbers(random, 40 * 40, test::Draw::kTame),
                     p = numbers(random, 40 * 40, test::Draw::kTame);
    CardFloats sum(40), dot = numbers(random, 40, test::Draw::kTame), ds(40 * 40), e(40 * 40, 1.0F);
    arithmetic::loss_sum(40, x, sum);
    arithmetic::softmax_gradient({40, 16}, x, p, dot, ds);
    REQUIRE(is_found([&](TestStream& stream) {
        CardFloats out(40);
        start<RowWise<RowKind::kSum, RowFault::kOtherTree>>(
            stream, RowArgs{.rows = 40, .cols = 40, .a = x.data(), .out = output(out)});
        return same(out, sum);
    }));
    REQUIRE(is_found([&](TestStream& stream) {
        CardFloats out(40 * 40);
        start<Pointwise<PointKind::kSoftmaxGradient, PointFault::kContracted>>(
            stream, PointArgs{.count = 40 * 40,
                              .a = x.data(),
                              .b = p.data(),
                              .c = dot.data(),
                              .out = output(out),
                              .cols = 40,
                              .context = 40,
                              .number = arithmetic::attention_scale(16)});
        return same(out, ds);
    }));
    const ColumnCase columns;
    REQUIRE(is_found([&](TestStream& stream) {
        CardFloats sums(kSequences * kCols), more = sums, gain = columns.before, bias = gain;
        start<ColumnChains<ColumnKind::kLayerNorm, ColumnFault::kTwoRoundings>>(stream,
                                                                                columns.args(sums, more));
        add_sequences(stream, {kSequences, kCols, sums.data(), output(gain)});
        return same(gain, columns.gain);
    }));
    const LossCase loss;
    REQUIRE(is_found([&](TestStream& stream) {
        return loss.is_right(
            [&](const LossTotalArgs& args) { launch<LossTotal<ColumnFault::kOneChain>>({}, stream, args); });
    }));
    const EmbeddingCase embedding;
    REQUIRE(is_found([&](TestStream& stream) {
        return embedding.is_right([&](const EmbeddingGradientArgs& args) {
            start<EmbeddingGradient<ColumnFault::kOneChain>>(stream, args);
        });
    }));
}

}  // namespace assay::trainer::cuda
