// SPDX-License-Identifier: Apache-2.0
// Fused attention of profile i16 on the emulated GPU against the law's operators one after another, bit for
// bit, in every order of threads; what it notes of numbers that are not finite; and its mutants.
#include <cmath>
#include <limits>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/exact_attention.hpp"
#include "tests/trainer/cuda/cuda_support.hpp"
#include "trainer/cuda/launch/attention.hpp"
#include "trainer/cuda/launch/products.hpp"

namespace assay::trainer::cuda {
namespace {
using arithmetic::ChainStart;
using test::CardFloats;
using test::Draw;
using test::in_every_order;
using test::is_found;
using test::numbers;
using test::output;
using test::same;
using test::TestStream;

struct AttentionShape {
    unsigned sequences, tokens, dim, heads, sharing;
};

// Digits of an operand, in memory that held other things.
struct PackedHeads {
    DigitPlace place;
    test::CardVector<std::uint32_t> words;
    test::CardVector<std::int32_t> exponents;
    unsigned inner, sharing;
    PackedHeads(TestStream& stream, DigitPlace where, OperandView from, unsigned matrices, unsigned in = 1,
                unsigned shared = 1)
        : place(where),
          words(where.words() * matrices, 0x55555555U),
          exponents(where.exponents() * matrices, 77),
          inner(in),
          sharing(shared) {
        pack_i16(stream,
                 {.from = from, .place = place, .digits = output(words), .exponents = output(exponents)},
                 Mask::kNone, matrices);
    }
    [[nodiscard]] Digits digits() const { return {words.data(), exponents.data(), place, inner, sharing}; }
};

// Attention of some sequences, forward and backward, as the law has it: squares in memory, operator after
// operator.
struct AttentionCase {
    AttentionCase(AttentionShape shape, Draw draw, unsigned seed = 61)
        : s(shape),
          keys(s.heads / s.sharing),
          width((s.heads + 2 * keys) * s.dim),
          out_width(s.heads * s.dim),
          random(seed),
          qkv(numbers(random, std::size_t{s.sequences} * s.tokens * width, draw)),
          d_o(numbers(random, std::size_t{s.sequences} * s.tokens * out_width, draw)) {
        compute();
    }

    void compute() {
        const std::size_t rows = std::size_t{s.sequences} * s.tokens;
        o.assign(rows * out_width, 7.0F);
        d_qkv.assign(rows * width, 7.0F);
        max.assign(std::size_t{s.sequences} * s.heads * s.tokens, 0.0F);
        sum = dot = max;
        const arithmetic::HeadShape head{s.tokens, s.dim};
        CardFloats scores(std::size_t{s.tokens} * s.tokens), p = scores, dp = scores, ds = scores;
        for (std::size_t z = 0; z < std::size_t{s.sequences} * s.heads; ++z) {
            const std::size_t first = z / s.heads * s.tokens, h = z % s.heads;
            const auto rows_of = [&](std::size_t number) {
                return qkv.data() + first * width + number * s.dim;
            };
            const arithmetic::HeadView q{rows_of(h), width}, k{rows_of(s.heads + h / s.sharing), width},
                v{rows_of(s.heads + keys + h / s.sharing), width},
                slope{d_o.data() + first * out_width + h * s.dim, out_width};
            const auto to = [&](std::size_t number) {
                return arithmetic::HeadOut{d_qkv.data() + first * width + number * s.dim, width};
            };
            const auto column = [&](CardFloats& all) {
                return std::span(all).subspan(z * s.tokens, s.tokens);
            };
            arithmetic::exact::attention_scores(head, q, k, scores);
            arithmetic::softmax_max(s.tokens, scores, column(max));
            arithmetic::softmax_exp(s.tokens, scores, column(max), p);
            arithmetic::softmax_sum(s.tokens, p, column(sum));
            arithmetic::softmax_divide(s.tokens, p, column(sum), p);
            arithmetic::exact::attention_values(head, p, v,
                                                {o.data() + first * out_width + h * s.dim, out_width});
            arithmetic::exact::attention_probability_gradient(head, slope, v, dp);
            arithmetic::softmax_dot(s.tokens, dp, p, column(dot));
            arithmetic::softmax_gradient(head, dp, p, column(dot), ds);
            arithmetic::exact::attention_query_gradient(head, ds, k, to(h));
            const ChainStart start = h % s.sharing == 0 ? ChainStart::kZero : ChainStart::kCarry;
            arithmetic::exact::attention_key_gradient(head, ds, q, to(s.heads + h / s.sharing), start);
            arithmetic::exact::attention_value_gradient(head, p, slope, to(s.heads + keys + h / s.sharing),
                                                        start);
        }
    }

    // Runs it by `run(output, args)` and compares what it wrote, and what it left.
    template <class Run>
    bool is_right(TestStream& stream, const Run& run) {
        const DigitPlace by_token{s.tokens, s.dim, arithmetic::kMaxProductBlock, 2};
        const DigitPlace by_number{s.dim, s.tokens, arithmetic::kAttentionBlock, 2};
        const unsigned queries = s.sequences * s.heads, shared = s.sequences * keys;
        const auto view = [&](const CardFloats& rows, unsigned columns, unsigned first, unsigned inner,
                              bool turned) {
            OperandPlace place{columns, 1, std::uint64_t{s.tokens} * columns, s.dim, inner, 1};
            if (turned) std::swap(place.row_stride, place.col_stride);
            return OperandView{rows.data() + first * s.dim, place};
        };
        const auto packed = [&](DigitPlace place, OperandView from) {
            const bool of_keys =
                from.place.inner == keys && from.data != qkv.data() && from.data != d_o.data();
            return of_keys ? PackedHeads(stream, place, from, shared, s.heads, s.sharing)
                           : PackedHeads(stream, place, from, queries);
        };
        const unsigned key = s.heads, value = s.heads + keys;
        const PackedHeads q = packed(by_token, view(qkv, width, 0, s.heads, false)),
                          k = packed(by_token, view(qkv, width, key, keys, false)),
                          v = packed(by_token, view(qkv, width, value, keys, false)),
                          slope = packed(by_token, view(d_o, out_width, 0, s.heads, false)),
                          of_v = packed(by_number, view(qkv, width, value, keys, true)),
                          of_k = packed(by_number, view(qkv, width, key, keys, true)),
                          of_slope = packed(by_number, view(d_o, out_width, 0, s.heads, true)),
                          of_q = packed(by_number, view(qkv, width, 0, s.heads, true));
        CardFloats up(o.size(), 7.0F), down(d_qkv.size(), 7.0F), row_max(max.size(), 7.0F),
            row_sum = row_max, row_dot = row_max, row_inverse = row_max;
        AttentionI16Args args{.q = q.digits(),
                              .k = k.digits(),
                              .v = v.digits(),
                              .d_o = slope.digits(),
                              .tokens = s.tokens,
                              .heads = s.heads,
                              .sharing = s.sharing,
                              .scale = arithmetic::attention_scale(s.dim),
                              .max = output(row_max),
                              .sum = output(row_sum),
                              .dot = output(row_dot),
                              .inverse = output(row_inverse),
                              .scores = scores_watch,
                              .slopes = slopes_watch,
                              .dots = dots_watch,
                              .after = after_watch,
                              .watch = watch};
        const auto at = [&](CardFloats& rows, unsigned columns, unsigned first, unsigned inner) {
            args.c = output(rows);
            args.c.data += first * s.dim;
            args.c.count -= first * s.dim;
            args.to = {columns, 1, std::uint64_t{s.tokens} * columns, s.dim, inner, 1};
        };
        using enum AttentionOutput;
        args.numbers = of_v.digits();
        at(up, out_width, 0, s.heads);
        run(kValues, args);
        args.numbers = of_k.digits();
        at(down, width, 0, s.heads);
        run(kQueryGradient, args);
        args.numbers = of_slope.digits();
        at(down, width, value, keys);
        run(kValueGradient, args);
        args.numbers = of_q.digits();
        at(down, width, key, keys);
        run(kKeyGradient, args);
        return same(row_max, max) && same(row_sum, sum) && same(up, o) && same(row_dot, dot) &&
               same(down, d_qkv);
    }
    bool is_right(TestStream& stream) {
        return is_right(stream, [&](AttentionOutput what, const AttentionI16Args& args) {
            attention_i16(stream, what, args, s.sequences);
        });
    }

    AttentionShape s;
    unsigned keys, width, out_width;
    std::mt19937 random;
    CardFloats qkv, d_o, o, d_qkv, max, sum, dot;
    NumberWatch scores_watch, slopes_watch, dots_watch, after_watch, watch;
};

// With one kernel in the place of the right one.
template <AttentionOutput kOutput, AttentionFault kFault>
bool is_mutant_found(AttentionCase& one) {
    return is_found([&](TestStream& stream) {
        return one.is_right(stream, [&](AttentionOutput what, const AttentionI16Args& args) {
            using Mutant = AttentionI16<kOutput, kFault>;
            if (what == kOutput) return launch<Mutant>(Mutant::grid(args, one.s.sequences), stream, args);
            attention_i16(stream, what, args, one.s.sequences);
        });
    });
}
// Whether fused attention can be tried; a card without the shared memory says so.
bool can_try() {
    test::use_test_card();
    if (!has_room_for_attention())
        WARN("this card has too little shared memory for fused attention: it is not tried");
    return has_room_for_attention();
}
}  // namespace

TEST_CASE("fused attention has the bits of the law's operators", "[trainer][cuda]") {
    if (!can_try()) return;
    // One token; a warp's rows cut, and a block's; blocks of tokens whole, and one more; heads of all widths;
    // keys that several heads share.
    for (const AttentionShape shape : {AttentionShape{1, 1, 4, 1, 1}, AttentionShape{2, 19, 12, 2, 1},
                                       AttentionShape{1, 65, 33, 3, 3}, AttentionShape{2, 130, 8, 4, 2}}) {
        AttentionCase one(shape, Draw::kTame);
        INFO(shape.tokens << " tokens of " << shape.dim << " numbers");
        in_every_order([&](TestStream& stream) { REQUIRE(one.is_right(stream)); });
    }
    for (const AttentionShape shape : {AttentionShape{1, 300, 64, 1, 1}, AttentionShape{2, 128, 64, 2, 2},
                                       AttentionShape{1, 256, 33, 2, 1}, AttentionShape{2, 64, 64, 3, 1}}) {
        AttentionCase longer(shape, Draw::kTame);
        INFO(shape.tokens << " tokens of " << shape.dim << " numbers");
        TestStream stream = test::one_stream();
        REQUIRE(longer.is_right(stream));
        REQUIRE_FALSE(stream.faults().any());
    }
}

TEST_CASE("fused attention of numbers that are far apart has the law's bits", "[trainer][cuda]") {
    if (!can_try()) return;
    // Zeros of both signs, subnormal numbers, and some of 1e15: exponents that are not small.
    for (unsigned seed = 0; seed < 3; ++seed) {
        AttentionCase one({1, 140, 16, 2, 2}, Draw::kWild, 70 + seed);
        TestStream stream = test::one_stream();
        REQUIRE(one.is_right(stream));
        REQUIRE_FALSE(stream.faults().any());
    }
    // Queries of about 2^114 and keys of 2^-109: a sum times the first one's power of two leaves binary32.
    AttentionCase apart({1, 40, 8, 1, 1}, Draw::kTame);
    for (std::size_t token = 0; token < 40; ++token) {
        float* const row = apart.qkv.data() + token * apart.width;
        for (std::size_t c = 0; c < 8; ++c)
            row[c] = std::ldexp(row[c], 114), row[8 + c] = std::ldexp(row[8 + c], -109);
    }
    apart.compute();
    TestStream other = test::one_stream();
    REQUIRE(apart.is_right(other));
    // Probabilities of about 2^-125 of the first 128 keys, whose values are all that the later queries'
    // outputs are made of: remainders of such quotients lose digits.
    AttentionCase steep({1, 400, 16, 1, 1}, Draw::kTame);
    for (std::size_t token = 0; token < 400; ++token) {
        float* const row = steep.qkv.data() + token * steep.width;
        for (std::size_t c = 0; c < 32; ++c) row[c] = 0.0F;
        row[0] = 20.0F;  // of q; scores are a quarter of the product
        row[16] = token < 128 ? -0.2F * (86.6F + 0.002F * static_cast<float>(token)) : 0.0F;
        for (std::size_t c = 32; c < 48 && token >= 128; ++c) row[c] = 0.0F;
    }
    steep.compute();
    TestStream first = test::one_stream();
    REQUIRE(steep.is_right(first));
    // Equal scores, of which the first is the maximum: −0 and +0 have different bits.
    AttentionCase zeros({1, 40, 8, 1, 1}, Draw::kTame);
    for (std::size_t i = 0; i < zeros.qkv.size(); ++i) zeros.qkv[i] = i % 3 == 0 ? -0.0F : 0.0F;
    zeros.compute();
    TestStream stream = test::one_stream();
    REQUIRE(zeros.is_right(stream));
    // The same where zeros of both signs come from different steps: of keys of usual size, whose products are
    // +0, and of tiny ones, whose product −2^-149 becomes −0 when it is scaled.
    for (std::size_t tiny = 0; tiny < 2; ++tiny) {
        AttentionCase signs({1, 70, 8, 1, 1}, Draw::kTame);
        for (std::size_t token = 0; token < 70; ++token) {
            float* const row = signs.qkv.data() + token * signs.width;
            for (std::size_t c = 0; c < 16; ++c) row[c] = 0.0F;
            row[0] = std::ldexp(-1.0F, -70);
            row[8 + (token / 32 + tiny) % 2] = (token / 32 + tiny) % 2 == 0 ? std::ldexp(1.0F, -79) : 1.0F;
        }
        signs.compute();
        REQUIRE(std::signbit(signs.max[69]) == (tiny == 0));
        TestStream signed_stream = test::one_stream();
        REQUIRE(signs.is_right(signed_stream));
    }
}

TEST_CASE("fused attention of steps near and far has the law's bits", "[trainer][cuda]") {
    if (!can_try()) return;
    // Exponents of each nearness in every place, one after another, so that steps of all kinds meet.
    for (unsigned seed = 0; seed < 4; ++seed) {
        AttentionCase mixed({1, 150, 8, 1, 1}, Draw::kTame, 80 + seed);
        constexpr int kPowers[] = {0, -40, -75, -100};
        for (std::size_t token = 0; token < 150; ++token) {
            const int of_step = kPowers[(token / 32 + seed) % 4], of_warp = kPowers[(token / 16 + seed) % 3];
            for (std::size_t c = 0; c < 8; ++c) {
                float* const row = mixed.qkv.data() + token * mixed.width + c;
                row[0] = std::ldexp(row[0], seed % 2 == 0 ? -of_step : of_warp);
                row[8] = std::ldexp(row[8], of_step);
                row[16] = std::ldexp(row[16], of_warp);
                float& slope = mixed.d_o[token * mixed.out_width + c];
                slope = std::ldexp(slope, seed < 2 ? of_step : -of_warp);
            }
        }
        mixed.compute();
        TestStream mixed_stream = test::one_stream();
        REQUIRE(mixed.is_right(mixed_stream));
    }
}

#if !defined(__CUDACC__)
// Functions of a card's threads, which the emulation's compiler makes functions of the host.
TEST_CASE("a quotient by corrections is the law's", "[trainer][cuda]") {
    std::mt19937 random(91);
    const auto is_right = [](float a, float b) {
        const float wanted = a / b;
        return std::bit_cast<std::uint32_t>(quotient(a, b, 1.0F / b)) == std::bit_cast<std::uint32_t>(wanted);
    };
    REQUIRE(is_right(0.0F, 3.0F));
    // Significands at their ends, over every exponent that there may be.
    constexpr std::uint32_t kEnds[] = {0, 1, 2, 0x3fffff, 0x400000, 0x555555, 0x7ffffd, 0x7ffffe, 0x7fffff};
    bool all = true;
    for (std::uint32_t of_a = 127 - 90; of_a <= 127; ++of_a) {
        for (std::uint32_t of_b = 127; of_b < 127 + 31; ++of_b) {
            for (const std::uint32_t a : kEnds) {
                for (const std::uint32_t b : kEnds) {
                    if (of_a == 127 && a != 0) continue;  // beyond 1
                    all = all && is_right(std::bit_cast<float>(of_a << 23U | a),
                                          std::bit_cast<float>(of_b << 23U | b));
                }
            }
        }
    }
    REQUIRE(all);
    for (int i = 0; i < 4'000'000; ++i) {
        const std::uint32_t drawn = static_cast<std::uint32_t>(random()),
                            other = static_cast<std::uint32_t>(random());
        const float a = std::bit_cast<float>((127 - 1 - drawn % 89) << 23U | drawn >> 9U);
        const float b = std::bit_cast<float>((127 + other % 31) << 23U | other >> 9U);
        all = all && is_right(a, b);
    }
    REQUIRE(all);
}

TEST_CASE("an exponential of usual size has the law's bits", "[trainer][cuda]") {
    bool all = true;
    const auto check = [&all](float x) {
        const float e = arithmetic::exp32(x);
        all = all && e >= 0x1p-90F && e <= 1.0F && bits_of(attention::usual_exp32(x)) == bits_of(e);
    };
    check(0.0F);
    for (std::uint32_t bits = 0; bits <= std::bit_cast<std::uint32_t>(attention::kUsualExponent); bits += 997)
        check(-std::bit_cast<float>(bits));
    check(-attention::kUsualExponent);
    REQUIRE(all);
}

TEST_CASE("a sum of digits of 32 bits becomes the law's float", "[trainer][cuda]") {
    std::mt19937 random(92);
    bool all = true;
    const auto check = [&all](std::int32_t lo, std::int32_t mid, std::int32_t hi) {
        const std::int64_t sum = std::int64_t{hi} * 65536 + std::int64_t{mid} * 256 + lo;
        all = all && bits_of(attention::sum_to_float(lo, mid, attention::kRaised + hi)) ==
                         bits_of(static_cast<float>(sum));
    };
    constexpr std::int32_t kMost = 128 * 128 * 128;  // of 128 products of digits
    for (const std::int32_t lo : {-kMost, -1, 0, 1, kMost})
        for (const std::int32_t mid : {-2 * kMost, -255, -1, 0, 1, 2 * kMost})
            for (const std::int32_t hi : {-kMost, -1, 0, 1, kMost}) check(lo, mid, hi);
    const auto draw = [&random](std::int32_t most) {
        return static_cast<std::int32_t>(random() % (2 * static_cast<unsigned>(most) + 1)) - most;
    };
    for (int i = 0; i < 1'000'000; ++i)
        check(draw(kMost), draw(2 * kMost), i % 3 == 0 ? draw(300) : draw(kMost));
    REQUIRE(all);
}
#endif

TEST_CASE("fused attention notes whose number is not finite", "[trainer][cuda]") {
    if (!can_try()) return;
    test::Note scores, slopes, dots, after, made;
    const auto watched = [&](AttentionCase& one) {
        one.scores_watch = {scores.at(), 1};
        one.slopes_watch = {slopes.at(), 2};
        one.dots_watch = {dots.at(), 3};
        one.after_watch = {after.at(), 4};
        one.watch = {made.at(), 5};
        for (test::Note* note : {&scores, &slopes, &dots, &after, &made}) note->set(kNoOperator);
        TestStream stream = test::one_stream();
        static_cast<void>(one.is_right(stream));
        REQUIRE_FALSE(stream.faults().any());
        return std::vector{scores.value(), slopes.value(), dots.value(), after.value(), made.value()};
    };
    const unsigned none = kNoOperator;
    AttentionCase one({1, 37, 8, 1, 1}, Draw::kTame);
    CHECK(watched(one) == std::vector{none, none, none, none, none});
    // Scores beyond binary32.
    AttentionCase large = one;
    for (std::size_t c = 0; c < 16; ++c) large.qkv[20 * large.width + c] = 3e38F;
    CHECK(watched(large)[0] == 1);
    // Probabilities' gradients beyond it, of finite scores.
    AttentionCase steep = one;
    for (std::size_t c = 0; c < 8; ++c) {
        steep.d_o[20 * steep.out_width + c] = 3e38F;
        steep.qkv[3 * steep.width + 16 + c] = 3e38F;
    }
    const auto noted = watched(steep);
    CHECK((noted[0] == none && noted[1] == 2 && noted[2] == 3));
    // Scores' gradients alone: a probability of 0.01 has the gradient 3e38, and all together have -2.9e38.
    AttentionCase apart({1, 2, 8, 1, 1}, Draw::kTame);
    for (float& number : apart.qkv) number = 0.0F;
    for (float& number : apart.d_o) number = 0.0F;
    const auto at = [&](std::size_t token, std::size_t number) -> float& {
        return apart.qkv[token * apart.width + number];
    };
    at(1, 0) = 13.0F;  // of q
    at(1, 8) = 1.0F;   // of k
    at(0, 16) = 1e19F, at(1, 16) = -1e19F;
    apart.d_o[apart.out_width] = 3e19F;
    const auto late = watched(apart);
    CHECK((late[0] == none && late[1] == none && late[2] == none && late[3] == 4));
}

TEST_CASE("mutants of fused attention are found", "[trainer][cuda]") {
    if (!can_try()) return;
    AttentionCase one({1, 150, 8, 2, 2}, Draw::kTame);
    using enum AttentionOutput;
    using enum AttentionFault;
    REQUIRE_FALSE(is_mutant_found<kValues, kNone>(one));
    REQUIRE(is_mutant_found<kValues, kOtherTree>(one));
    REQUIRE(is_mutant_found<kQueryGradient, kOtherTree>(one));
    REQUIRE(is_mutant_found<kValues, kMissingBarrier>(one));
    REQUIRE(is_mutant_found<kKeyGradient, kMissingBarrier>(one));
    REQUIRE(is_mutant_found<kValues, kWholeMaximum>(one));
    REQUIRE(is_mutant_found<kValueGradient, kWholeMaximum>(one));
    REQUIRE(is_mutant_found<kValueGradient, kForgottenMember>(one));
}

}  // namespace assay::trainer::cuda
