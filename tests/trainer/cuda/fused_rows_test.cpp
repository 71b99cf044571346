// SPDX-License-Identifier: Apache-2.0
// Kernels that run several operators on a row (softmax of attention, cross-entropy, the tied gradient)
// against the operators' definitions, in every order of threads; and whose operator a number that is not
// finite is noted for.
#include <algorithm>
#include <bit>
#include <cmath>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "tests/trainer/cuda/cuda_support.hpp"
#include "trainer/cuda/launch/rows.hpp"

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

// Squares of some heads, and what the law makes of each.
struct SquareCase {
    SquareCase(std::size_t tokens, std::size_t heads, test::Draw draw)
        : context(tokens),
          squares(heads),
          scores(numbers(random, heads * tokens * tokens, draw)),
          dp(numbers(random, heads * tokens * tokens, draw)),
          p(scores),
          ds(dp),
          max(heads * tokens),
          sum(heads * tokens) {
        for (std::size_t h = 0; h < heads; ++h) {
            const auto square = [&](CardFloats& all) {
                return std::span(all).subspan(h * tokens * tokens, tokens * tokens);
            };
            const auto column = [&](CardFloats& all) { return std::span(all).subspan(h * tokens, tokens); };
            CardFloats dots(tokens);
            arithmetic::softmax_max(tokens, square(scores), column(max));
            arithmetic::softmax_exp(tokens, square(scores), column(max), square(p));
            arithmetic::softmax_sum(tokens, square(p), column(sum));
            arithmetic::softmax_divide(tokens, square(p), column(sum), square(p));
            arithmetic::softmax_dot(tokens, square(dp), square(p), dots);
            arithmetic::softmax_gradient({tokens, kDim}, square(dp), square(p), dots, square(ds));
        }
    }
    [[nodiscard]] SoftmaxArgs args(CardFloats& square) const {
        return {.rows = squares * context,
                .context = context,
                .square = output(square),
                .kept_max = max.data(),
                .kept_sum = sum.data(),
                .p = p.data(),
                .scale = arithmetic::attention_scale(kDim)};
    }
    template <class Run>
    [[nodiscard]] bool is_forward_right(const Run& run) const {
        CardFloats square = scores, row_max(max.size()), row_sum(sum.size());
        SoftmaxArgs with = args(square);
        with.max = output(row_max);
        with.sum = output(row_sum);
        run(with);
        // What a query does not see is left as it was.
        return same(square, p) && same(row_max, max) && same(row_sum, sum);
    }
    static constexpr std::size_t kDim = 12;
    std::mt19937 random{53};
    std::size_t context, squares;
    CardFloats scores, dp, p, ds, max, sum;
};

void check_softmax(const SquareCase& one) {
    INFO(one.context << " tokens");
    in_every_order([&](TestStream& stream) {
        REQUIRE(one.is_forward_right(
            [&](const SoftmaxArgs& args) { softmax_rows(stream, SoftmaxKind::kForward, args); }));
        CardFloats again = one.scores, slopes = one.dp;
        softmax_rows(stream, SoftmaxKind::kAgain, one.args(again));
        REQUIRE(same(again, one.p));
        softmax_rows(stream, SoftmaxKind::kGradient, one.args(slopes));
        REQUIRE(same(slopes, one.ds));
    });
}

constexpr unsigned kBefore = 7, kDot = 8, kAfter = 9;
}  // namespace

TEST_CASE("a row's softmax in one kernel has the law's bits, and so has its gradient", "[trainer][cuda]") {
    check_softmax({1, 3, test::Draw::kWild});
    check_softmax({37, 3, test::Draw::kWild});
    check_softmax({101, 1, test::Draw::kTame});
    // Beyond the registers of the short rows' kernel, which end at 256 numbers.
    check_softmax({260, 1, test::Draw::kTame});
}

TEST_CASE("rows longer than a kernel's registers are read again", "[trainer][cuda]") {
    const SquareCase one(1030, 1, test::Draw::kTame);
    TestStream stream = test::one_stream();
    REQUIRE(one.is_forward_right(
        [&](const SoftmaxArgs& args) { softmax_rows(stream, SoftmaxKind::kForward, args); }));
    CardFloats again = one.scores, slopes = one.dp;
    softmax_rows(stream, SoftmaxKind::kAgain, one.args(again));
    softmax_rows(stream, SoftmaxKind::kGradient, one.args(slopes));
    REQUIRE((same(again, one.p) && same(slopes, one.ds)));
    REQUIRE_FALSE(stream.faults().any());
    const SquareCase small(101, 1, test::Draw::kTame);
    in_every_order([&](TestStream& ordered) {
        REQUIRE(small.is_forward_right(
            [&](const SoftmaxArgs& args) { start<SoftmaxRows<SoftmaxKind::kForward, 0>>(ordered, args); }));
        CardFloats ds = small.dp;
        start<SoftmaxRows<SoftmaxKind::kGradient, 0>>(ordered, small.args(ds));
        REQUIRE(same(ds, small.ds));
    });
}

TEST_CASE("a row's softmax notes whose number is not finite", "[trainer][cuda]") {
    const SquareCase one(37, 2, test::Draw::kTame);
    const std::size_t last = one.context * one.context - 1;  // the last key of the last query of a head
    in_every_order([&](TestStream& stream) {
        const auto noted = [&](SoftmaxKind kind, std::size_t at, float value) {
            test::Note note;
            CardFloats square = kind == SoftmaxKind::kGradient ? one.dp : one.scores, max = one.max,
                       sum = max;
            square[at] = value;
            SoftmaxArgs args = one.args(square);
            args.max = output(max);
            args.sum = output(sum);
            args.before = {note.at(), kBefore};
            args.dot = {note.at(), kDot};
            args.after = {note.at(), kAfter};
            softmax_rows(stream, kind, args);
            return note.value();
        };
        using enum SoftmaxKind;
        for (const float broken : {INFINITY, -INFINITY, std::nanf("")}) {
            REQUIRE(noted(kForward, last, broken) == kBefore);
            REQUIRE(noted(kGradient, last, broken) == kBefore);
            // What a query does not see is nobody's.
            REQUIRE(noted(kForward, one.context - 1, broken) == kNoOperator);
            REQUIRE(noted(kGradient, one.context - 1, broken) == kNoOperator);
        }
        REQUIRE(noted(kForward, last, 3e38F) == kNoOperator);
    });
}

TEST_CASE("a dot product that overflows is noted, and a gradient that does", "[trainer][cuda]") {
    constexpr std::size_t kTokens = 2;
    in_every_order([&](TestStream& stream) {
        const auto noted = [&](float slope, float probability, float scale) {
            test::Note note;
            CardFloats square(kTokens * kTokens, slope), p(square.size(), probability);
            softmax_rows(stream, SoftmaxKind::kGradient,
                         {.rows = kTokens,
                          .context = kTokens,
                          .square = output(square),
                          .p = p.data(),
                          .scale = scale,
                          .before = {note.at(), kBefore},
                          .dot = {note.at(), kDot},
                          .after = {note.at(), kAfter}});
            return note.value();
        };
        REQUIRE(noted(3e38F, 1.0F, 1.0F) == kDot);
        REQUIRE(noted(1e38F, 1.0F, 16.0F) == kAfter);
        REQUIRE(noted(1e30F, 1.0F, 1.0F) == kNoOperator);
    });
}

namespace {
// Rows of logits, and what the law makes of them.
struct LogitsCase {
    LogitsCase(std::size_t row_count, std::size_t words)
        : cols(words),
          logits(numbers(random, row_count * words, test::Draw::kTame)),
          gradient(logits.size()),
          losses(row_count) {
        for (std::size_t row = 0; row < row_count; ++row) {
            targets.push_back(static_cast<std::uint32_t>(row == 0 ? words - 1 : random() % words));
        }
        CardFloats max(row_count), sum(row_count), e(logits.size());
        arithmetic::loss_max(words, logits, max);
        arithmetic::loss_exp(words, logits, max, e);
        arithmetic::loss_sum(words, e, sum);
        arithmetic::loss_tokens(words, logits, max, sum, targets, losses);
        arithmetic::loss_gradient(words, arithmetic::reciprocal(300), e, sum, targets, gradient);
    }
    [[nodiscard]] LossRowsArgs args(CardFloats& of, CardFloats& loss) const {
        return {.rows = losses.size(),
                .cols = cols,
                .targets = targets.data(),
                .logits = output(of),
                .losses = output(loss),
                .number = arithmetic::reciprocal(300)};
    }
    template <class Run>
    [[nodiscard]] bool is_right(bool with_gradient, const Run& run) const {
        CardFloats own = logits, loss(losses.size());
        run(args(own, loss));
        return same(loss, losses) && same(own, with_gradient ? gradient : logits);
    }
    std::mt19937 random{54};
    std::size_t cols;
    CardFloats logits, gradient, losses;
    test::CardVector<std::uint32_t> targets;
};
}  // namespace

TEST_CASE("cross-entropy in one kernel has the law's bits", "[trainer][cuda]") {
    for (const std::size_t words : {1U, 11U, 32U, 700U}) {
        const LogitsCase one(11, words);
        INFO(words << " words");
        in_every_order([&](TestStream& stream) {
            for (const bool gradient : {false, true}) {
                REQUIRE(one.is_right(gradient,
                                     [&](const LossRowsArgs& args) { loss_rows(stream, gradient, args); }));
            }
        });
    }
    const LogitsCase large(3, 50257);
    TestStream stream = test::one_stream();
    REQUIRE(large.is_right(true, [&](const LossRowsArgs& args) { loss_rows(stream, true, args); }));
}

TEST_CASE("cross-entropy of rows in shared memory has the law's bits, wherever a row begins",
          "[trainer][cuda]") {
    // A row's numbers: fewer than a turn of the chains, more than a batch of turns, more than the workers'.
    for (const std::size_t words : {1U, 5U, 34U, 1030U, 4099U}) {
        const LogitsCase one(5, words);
        INFO(words << " words");
        in_every_order([&](TestStream& stream) {
            for (std::size_t skew = 0; skew < 4; ++skew) {
                CardFloats own(skew + one.logits.size()), loss(one.losses.size());
                std::copy(one.logits.begin(), one.logits.end(), own.begin() + static_cast<long>(skew));
                LossRowsArgs args = one.args(own, loss);
                args.logits.data = own.data() + skew;
                args.logits.count = one.logits.size();
                args.blocks = 2;
                start<LossBlocks<false>>(stream, args);
                REQUIRE(same(loss, one.losses));
                start<LossBlocks<true>>(stream, args);
                REQUIRE(same(loss, one.losses));
                REQUIRE(same(CardFloats(own.begin() + static_cast<long>(skew), own.end()), one.gradient));
            }
        });
    }
}

TEST_CASE("the longest rows that fit, and the next, have the law's bits", "[trainer][cuda]") {
    constexpr std::size_t kMost = LossBlocks<true>::kMostCols;
    const LogitsCase longest(1, kMost);
    TestStream stream = test::one_stream();
    // Where the fewest places are left behind it.
    CardFloats own(3 + kMost), loss(1);
    std::copy(longest.logits.begin(), longest.logits.end(), own.begin() + 3);
    LossRowsArgs args = longest.args(own, loss);
    args.logits.data = own.data() + 3;
    args.logits.count = kMost;
    loss_rows(stream, true, args);
    REQUIRE(same(loss, longest.losses));
    REQUIRE(same(CardFloats(own.begin() + 3, own.end()), longest.gradient));
    for (const std::size_t more : {1U, 60U}) {
        const LogitsCase longer(2, kMost + more);
        REQUIRE(longer.is_right(true, [&](const LossRowsArgs& with) { loss_rows(stream, true, with); }));
    }
    REQUIRE_FALSE(stream.faults().any());
}

TEST_CASE("rows whose largest logits are zeros of both signs have the law's bits", "[trainer][cuda]") {
    const LogitsCase one(5, 700);
    in_every_order([&](TestStream& stream) {
        for (const std::size_t target : {3U, 4U}) {
            CardFloats logits[2], loss[2];
            for (unsigned i = 0; i < 2; ++i) {
                logits[i] = one.logits;
                loss[i] = one.losses;
                for (float& logit : logits[i]) logit = -std::fabs(logit) - 1.0F;
                for (std::size_t row = 0; row < loss[i].size(); ++row) {
                    logits[i][row * one.cols + 3] = row % 2 == 0 ? -0.0F : 0.0F;
                    logits[i][row * one.cols + 4] = row % 2 == 0 ? 0.0F : -0.0F;
                }
                test::CardVector<std::uint32_t> targets(loss[i].size(), static_cast<std::uint32_t>(target));
                LossRowsArgs args = one.args(logits[i], loss[i]);
                args.targets = targets.data();
                if (i == 0) start<LossRows<true>>(stream, args);
                if (i == 1) start<LossBlocks<true>>(stream, args);
                test::settle();
            }
            REQUIRE(same(logits[0], logits[1]));
            REQUIRE(same(loss[0], loss[1]));
        }
    });
}

TEST_CASE("cross-entropy of rows in shared memory notes what the other kernel notes", "[trainer][cuda]") {
    const LogitsCase one(5, 700);
    in_every_order([&](TestStream& stream) {
        // Exponentials that the divisor that they share is not for, next to others, and none at all.
        for (const float low :
             {-60.0F, -75.0F, -84.0F, -95.0F, -200.0F, INFINITY, -INFINITY, std::nanf("")}) {
            for (const std::size_t at : {0U, 33U, 69U}) {
                test::Note notes[2];
                CardFloats logits[2] = {one.logits, one.logits}, loss[2] = {one.losses, one.losses};
                for (unsigned i = 0; i < 2; ++i) {
                    for (std::size_t k = 0; std::isfinite(low) && k < one.cols; k += 2)
                        logits[i][2 * one.cols + k] = low + 0.003F * static_cast<float>(k);
                    logits[i][2 * one.cols + at] = low;
                    LossRowsArgs args = one.args(logits[i], loss[i]);
                    args.number = 1.0F;
                    args.before = {notes[i].at(), kBefore};
                    args.loss = {notes[i].at(), kAfter};
                    if (i == 0) start<LossRows<true>>(stream, args);
                    if (i == 1) start<LossBlocks<true>>(stream, args);
                }
                REQUIRE(notes[0].value() == notes[1].value());
                // The law has no maximum of a row with a NaN.
                if (low != low) continue;
                REQUIRE(same(logits[0], logits[1]));
                REQUIRE(same(loss[0], loss[1]));
            }
        }
        test::Note note;
        CardFloats logits = one.logits, loss = one.losses;
        logits[69] = 3e38F;
        logits[one.targets[0] == 69 ? 0 : one.targets[0]] = -3e38F;
        LossRowsArgs args = one.args(logits, loss);
        test::CardVector<std::uint32_t> targets(loss.size(), one.targets[0] == 69 ? 0 : one.targets[0]);
        args.targets = targets.data();
        args.loss = {note.at(), kAfter};
        start<LossBlocks<true>>(stream, args);
        REQUIRE(note.value() == kAfter);
    });
}

TEST_CASE("cross-entropy in one kernel notes logits and losses that are not finite", "[trainer][cuda]") {
    const LogitsCase one(11, 70);
    in_every_order([&](TestStream& stream) {
        const auto noted = [&](float value, float other) {
            test::Note note;
            CardFloats logits = one.logits, loss(one.losses.size());
            logits[5 * one.cols + 69] = value;
            logits[5 * one.cols + one.targets[5]] = other;
            LossRowsArgs args = one.args(logits, loss);
            args.before = {note.at(), kBefore};
            args.loss = {note.at(), kAfter};
            loss_rows(stream, true, args);
            return note.value();
        };
        REQUIRE(one.targets[5] != 69);
        REQUIRE(noted(1.0F, 2.0F) == kNoOperator);
        for (const float broken : {INFINITY, -INFINITY, std::nanf("")})
            REQUIRE(noted(broken, 2.0F) == kBefore);
        REQUIRE(noted(3e38F, -3e38F) == kAfter);
    });
}

TEST_CASE("a tied matrix adds the rows of the words that occur, and +0 for the others", "[trainer][cuda]") {
    constexpr std::size_t kWords = 9, kWidth = 40;
    std::mt19937 random(55);
    const CardFloats by_head = numbers(random, kWords * kWidth), rows = numbers(random, 4 * kWidth);
    test::CardVector<std::uint32_t> row_of(kWords, kNoRow);
    row_of[8] = 0, row_of[1] = 1, row_of[5] = 2, row_of[0] = 3;
    CardFloats wanted(by_head.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::uint32_t row = row_of[i / kWidth];
        wanted[i] = by_head[i] + (row == kNoRow ? 0.0F : rows[row * kWidth + i % kWidth]);
    }
    in_every_order([&](TestStream& stream) {
        test::Note note;
        CardFloats sum = by_head;
        const auto run = [&] {
            tied_rows(stream, {.words = kWords,
                               .cols = kWidth,
                               .rows = rows.data(),
                               .row_of = row_of.data(),
                               .sum = output(sum),
                               .head = {note.at(), kBefore},
                               .watch = {note.at(), kAfter}});
        };
        run();
        REQUIRE(same(sum, wanted));
        REQUIRE(note.value() == kNoOperator);
        sum[2 * kWidth] = INFINITY;
        run();
        REQUIRE(note.value() == kBefore);
    });
}

TEST_CASE("mutants of kernels that fuse operators are found", "[trainer][cuda]") {
    const SquareCase square(101, 1, test::Draw::kTame);
    REQUIRE(is_found([&](TestStream& stream) {
        return square.is_forward_right([&](const SoftmaxArgs& args) {
            start<SoftmaxRows<SoftmaxKind::kForward, 8, SoftmaxFault::kOtherTree>>(stream, args);
        });
    }));
    const LogitsCase logits(11, 70);
    REQUIRE(is_found([&](TestStream& stream) {
        return logits.is_right(true, [&](const LossRowsArgs& args) {
            start<LossRows<true, LossFault::kLateTarget>>(stream, args);
        });
    }));
    REQUIRE(is_found([&](TestStream& stream) {
        return logits.is_right(true, [&](const LossRowsArgs& args) {
            start<LossBlocks<true, LossFault::kLateTarget>>(stream, args);
        });
    }));
}

}  // namespace assay::trainer::cuda
