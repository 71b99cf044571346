// SPDX-License-Identifier: Apache-2.0
// Products of profile i16 on the emulated GPU against their definitions, bit for bit, in every order of
// threads.
#include <cmath>

#include "contracts/arithmetic/exact_attention.hpp"
#include "tests/trainer/cuda/products_i16_support.hpp"

namespace assay::trainer::cuda {
namespace {
using arithmetic::ChainStart;
using arithmetic::MatrixView;
using test::all_processors;
using test::can_try_warpgroups;
using test::CardFloats;
using test::Draw;
using test::ExactProductCase;
using test::few;
using test::I16Shape;
using test::in_every_order;
using test::is_found_with;
using test::numbers;
using test::output;
using test::PackedOperand;
using test::place_of;
using test::same;
using test::start_one;
using test::TestStream;

// Single numbers, tiles whole and cut, no k, blocks whole, cut and several; numbers that no digits hold.
constexpr I16Shape kI16Shapes[] = {{1, 1, 1, 16384},    {3, 5, 0, 16384},  {32, 32, 32, 16384},
                                   {33, 31, 70, 16384}, {70, 90, 100, 40}, {5, 130, 64, 32},
                                   {65, 9, 33, 7}};

}  // namespace

TEST_CASE("i16 products on a GPU's matrix units have the law's bits", "[trainer][cuda]") {
    std::mt19937 random(31);
    int i = 0;
    for (const I16Shape s : kI16Shapes) {
        for (const unsigned planes : {2U, 3U}) {
            const ExactProductCase one(random, s, planes, i % 2 == 0, i % 3 == 0,
                                       i % 5 < 2 ? ChainStart::kCarry : ChainStart::kZero,
                                       i % 2 == 0 ? Draw::kWild : Draw::kTame);
            INFO(s.m << "x" << s.n << "x" << s.k << " in blocks of " << s.block << ", digits " << planes);
            in_every_order([&](TestStream& stream) { REQUIRE(one.is_right(stream)); });
            ++i;
        }
    }
}

// In large tiles, those for one block of k where there is one.
void start_wide(TestStream& stream, const ProductI16Args& args) {
    using One = ProductI16Wide<2, 128, Mask::kNone, WideBlocks::kOne>;
    if (args.a.place.planes == 3) return start_one<ProductI16Wide<3, 96>>(stream, args);
    if (args.a.place.blocks() == 1 && !args.carry) return start_one<One>(stream, args);
    start_one<ProductI16Wide<2, 128>>(stream, args);
}

TEST_CASE("i16 products of warpgroups have the law's bits", "[trainer][cuda]") {
    if (!can_try_warpgroups()) return;
    // Tiles whole and cut, in both directions; more tiles along k than are copied ahead; blocks that tiles
    // cut.
    constexpr I16Shape kWideShapes[] = {{128, 128, 64, 16384},
                                        {130, 100, 70, 16384},
                                        {5, 200, 1000, 16384},
                                        {70, 97, 400, 160},
                                        {129, 3, 33, 7}};
    std::mt19937 random(36);
    int i = 0;
    for (const I16Shape s : kWideShapes) {
        for (const unsigned planes : {2U, 3U}) {
            ExactProductCase one(random, s, planes, i % 2 == 0, i % 3 == 0,
                                 i % 3 == 0 ? ChainStart::kCarry : ChainStart::kZero,
                                 i % 2 == 0 ? Draw::kWild : Draw::kTame);
            if (i % 4 < 2) one.bias = numbers(random, s.n);
            one.compute();
            INFO(s.m << "x" << s.n << "x" << s.k << " in blocks of " << s.block << ", digits " << planes);
            in_every_order([&](TestStream& stream) {
                REQUIRE(one.is_right([&](const PackArgs& args) { pack_i16(stream, args, Mask::kNone, 1); },
                                     [&](const ProductI16Args& args) { start_wide(stream, args); }));
            });
            ++i;
        }
    }
}

TEST_CASE("warpgroups finish sums of any exponent", "[trainer][cuda]") {
    if (!can_try_warpgroups()) return;
    std::mt19937 random(38);
    // Powers of two that one factor holds, just holds, and does not hold; lines of zeros.
    for (const int power : {0, 60, 76, 77, 100, -60, -50, -100}) {
        for (const unsigned planes : {2U, 3U}) {
            ExactProductCase one(random, {20, 30, 100, 64}, planes, false, false, ChainStart::kCarry,
                                 Draw::kTame);
            for (std::size_t at = 0; at < one.a.size(); ++at) {
                const std::size_t line = at / one.s.k;
                one.a[at] = line % 3 == 0 ? std::ldexp(one.a[at], power) : line % 3 == 1 ? 0.0F : one.a[at];
            }
            one.compute();
            INFO("2^" << power << ", digits " << planes);
            TestStream stream = test::one_stream();
            REQUIRE(one.is_right([&](const PackArgs& args) { pack_i16(stream, args, Mask::kNone, 1); },
                                 [&](const ProductI16Args& args) { start_wide(stream, args); }));
            REQUIRE_FALSE(stream.faults().any());
        }
    }
}

TEST_CASE("large products go to warpgroups by themselves", "[trainer][cuda]") {
    // 33 tiles of 128 × 128, the last ones not whole.
    std::mt19937 random(39);
    const ExactProductCase one(random, {380, 1400, 64, 16384}, 2, false, false, ChainStart::kZero,
                               Draw::kTame);
    TestStream stream = test::one_stream();
    REQUIRE(one.is_right(stream));
    REQUIRE_FALSE(stream.faults().any());
}

TEST_CASE("a thread block of warpgroups computes tile after tile", "[trainer][cuda]") {
    if (!can_try_warpgroups()) return;
    // Rows that begin at even places, at odd ones; blocks of k: one, which is short or long, and several;
    // five to eight tiles for one thread block, and for three.
    constexpr I16Shape kShapes[] = {{200, 384, 100, 16384}, {192, 385, 70, 16384}, {70, 517, 330, 16384},
                                    {330, 131, 20, 16384},  {200, 400, 100, 40},   {130, 385, 90, 64}};
    std::mt19937 random(44);
    int i = 0;
    for (const I16Shape s : kShapes) {
        for (const unsigned planes : {2U, 3U}) {
            ExactProductCase one(random, s, planes, i % 2 == 0, i % 3 == 0,
                                 i % 4 == 3 ? ChainStart::kCarry : ChainStart::kZero,
                                 i % 3 == 0 ? Draw::kWild : Draw::kTame);
            if (i % 2 == 0) one.bias = numbers(random, s.n);
            one.compute();
            INFO(s.m << "x" << s.n << "x" << s.k << " in blocks of " << s.block << ", digits " << planes);
            in_every_order([&](TestStream& stream) {
                for (const unsigned processors : {1U, 3U}) {
                    REQUIRE(
                        one.is_right([&](const PackArgs& args) { pack_i16(stream, args, Mask::kNone, 1); },
                                     [&](const ProductI16Args& args) {
                                         product_i16(stream, args, Mask::kNone, 1, few(processors));
                                         test::settle();
                                     }));
                }
            });
            ++i;
        }
    }
}

TEST_CASE("a thread block of warpgroups leaves out masked tiles", "[trainer][cuda]") {
    if (!can_try_warpgroups()) return;
    // Three by three tiles of two heads, of which a thread block computes all or every other one; rows of
    // scores that begin at even places, at odd ones.
    for (const unsigned tokens : {300U, 301U}) {
        constexpr unsigned kHeads = 2, kDim = 20;
        std::mt19937 random(46 + tokens);
        const CardFloats queries = numbers(random, std::size_t{kHeads} * tokens * kDim);
        const CardFloats keys = numbers(random, std::size_t{kHeads} * tokens * kDim);
        const std::size_t square = std::size_t{tokens} * tokens;
        CardFloats wanted(kHeads * square, 7.0F);
        for (unsigned head = 0; head < kHeads; ++head) {
            const float* const q = queries.data() + std::size_t{head} * tokens * kDim;
            const float* const k = keys.data() + std::size_t{head} * tokens * kDim;
            CardFloats all(square, 0.0F);
            arithmetic::exact_product({tokens, tokens, kDim}, {2, 2, 16384}, {q, kDim, 1}, {k, 1, kDim},
                                      ChainStart::kZero, all.data(), tokens);
            for (unsigned i = 0; i < tokens; ++i)
                for (unsigned j = 0; j <= i; ++j)
                    wanted[head * square + std::size_t{i} * tokens + j] =
                        all[std::size_t{i} * tokens + j] * 0.25F;
        }
        in_every_order([&](TestStream& stream) {
            PackedOperand q({tokens, kDim, 16384, 2}, kHeads), k({tokens, kDim, 16384, 2}, kHeads);
            const OperandPlace heads{kDim, 1, std::uint64_t{tokens} * kDim, 0, 1, 1};
            pack_i16(stream, q.into({queries.data(), heads}), Mask::kNone, kHeads);
            pack_i16(stream, k.into({keys.data(), heads}), Mask::kNone, kHeads);
            for (const unsigned processors : {1U, 2U}) {
                CardFloats scores(kHeads * square, 7.0F);
                product_i16(stream,
                            {.a = q.digits(),
                             .b = k.digits(),
                             .c = output(scores),
                             .to = {tokens, 1, square, 0, 1, 1},
                             .scale = 0.25F},
                            Mask::kLower, kHeads, few(processors));
                REQUIRE(same(scores, wanted));
            }
        });
    }
}

TEST_CASE("products of digits note what is not finite, wherever it lies", "[trainer][cuda]") {
    std::mt19937 random(40);
    const auto noted = [&](auto kernel, std::size_t at, float value) {
        ExactProductCase one(random, {70, 130, 32, 16384}, 2, false, false, ChainStart::kCarry, Draw::kTame);
        if (at < one.before.size()) one.before[at] = value;
        test::Note note;
        TestStream stream = test::one_stream();
        static_cast<void>(one.is_right([&](const PackArgs& args) { pack_i16(stream, args, Mask::kNone, 1); },
                                       [&](ProductI16Args args) {
                                           args.watch = {note.at(), 7};
                                           start_one<decltype(kernel)>(stream, args);
                                       }));
        return note.value();
    };
    const auto sees_all = [&](auto kernel) {
        REQUIRE(noted(kernel, SIZE_MAX, 0.0F) == kNoOperator);
        for (const float value : {INFINITY, -INFINITY, NAN}) {
            // A whole tile, its border, and the last output of all.
            for (const std::size_t at : {std::size_t{0}, std::size_t{129}, std::size_t{69} * 130 + 129})
                REQUIRE(noted(kernel, at, value) == 7);
        }
    };
    sees_all(ProductI16<2, 2, 2, Mask::kNone>{});
    if (can_try_warpgroups()) sees_all(ProductI16Wide<2, 128>{});
}

TEST_CASE("the largest sums of a whole block are exact", "[trainer][cuda]") {
    // All digits at their limits, 127: 16,384 terms of one sign, and of both.
    constexpr float kTwoDigits = 32639 * 0x1p-8F, kThreeDigits = 8355711 * 0x1p-16F;
    for (const unsigned planes : {2U, 3U}) {
        std::mt19937 random(32);
        ExactProductCase one(random, {2, 3, 16384 + 40, 16384}, planes, false, true, ChainStart::kZero);
        const float most = planes == 2 ? kTwoDigits : kThreeDigits;
        for (std::size_t i = 0; i < one.a.size(); ++i) one.a[i] = i % 5 == 0 && i > 16424 ? -most : most;
        for (float& value : one.b) value = kTwoDigits;
        arithmetic::exact_product({one.s.m, one.s.n, one.s.k},
                                  {static_cast<std::uint8_t>(planes), 2, one.s.block}, one.left, one.right,
                                  one.start, one.wanted.data(), one.s.n);
        TestStream stream = test::one_stream();
        REQUIRE(one.is_right(stream));
        if (can_try_warpgroups()) {
            REQUIRE(one.is_right([&](const PackArgs& args) { pack_i16(stream, args, Mask::kNone, 1); },
                                 [&](const ProductI16Args& args) { start_wide(stream, args); }));
        }
        REQUIRE_FALSE(stream.faults().any());
    }
}

TEST_CASE("operands that are not finite give some bits, the same in every order", "[trainer][cuda]") {
    std::mt19937 random(33);
    ExactProductCase one(random, {20, 20, 40, 16384}, 2, false, false, ChainStart::kZero);
    one.a[3] = NAN;
    one.a[50] = INFINITY;
    CardFloats first;
    in_every_order([&](TestStream& stream) {
        PackedOperand a({20, 40, 16384, 2}, 1), b({20, 40, 16384, 2}, 1);
        pack_i16(stream, a.into({one.a.data(), {40, 1}}), Mask::kNone, 1);
        pack_i16(stream, b.into({one.b.data(), {1, 20}}), Mask::kNone, 1);
        CardFloats c(400);
        product_i16(stream, {.a = a.digits(), .b = b.digits(), .c = output(c), .to = {.row_stride = 20}},
                    Mask::kNone, 1, all_processors());
        test::settle();
        if (first.empty()) first = c;
        REQUIRE(same(c, first));
    });
}

TEST_CASE("exact products of attention have the law's bits", "[trainer][cuda]") {
    // Two heads that share keys; tokens of a block and a half.
    std::mt19937 random(34);
    constexpr unsigned kTokens = 150, kDim = 8, kHeads = 2, kWidth = (kHeads + 1) * kDim;
    constexpr unsigned kBlock = arithmetic::kAttentionBlock;
    const CardFloats rows = numbers(random, std::size_t{kTokens} * kWidth);
    const CardFloats squares = numbers(random, std::size_t{kHeads} * kTokens * kTokens);
    const OperandPlace query{kWidth, 1, 0, kDim, kHeads, 1};
    const OperandPlace square{kTokens, 1, 0, kTokens * kTokens, kHeads, 1};
    const auto turned = [](OperandPlace place) {
        std::swap(place.row_stride, place.col_stride);
        return place;
    };
    const float* const keys = rows.data() + kHeads * kDim;
    const arithmetic::HeadShape head{kTokens, kDim};
    CardFloats scores(squares.size(), 7.0F), up(rows.size(), 7.0F), down = up;
    for (unsigned z = 0; z < kHeads; ++z) {
        const std::uint64_t at = query.matrix(z), of = square.matrix(z);
        const auto one = std::span(squares).subspan(of, kTokens * kTokens);
        arithmetic::exact::attention_scores(head, {rows.data() + at, kWidth}, {keys, kWidth},
                                            std::span(scores).subspan(of, kTokens * kTokens));
        arithmetic::exact::attention_values(head, one, {keys, kWidth}, {up.data() + at, kWidth});
        arithmetic::exact::attention_key_gradient(head, one, {rows.data() + at, kWidth},
                                                  {down.data() + at, kWidth});
    }
    in_every_order([&](TestStream& stream) {
        const DigitPlace by_dim{kTokens, kDim, arithmetic::kMaxProductBlock, 2},
            by_key{kDim, kTokens, kBlock, 2};
        const DigitPlace of_square{kTokens, kTokens, kBlock, 2};
        PackedOperand q(by_dim, kHeads), k(by_dim, 1), v(by_key, 1), qt(by_key, kHeads), p(of_square, kHeads),
            pt = p;
        pack_i16(stream, q.into({rows.data(), query}), Mask::kNone, kHeads);
        pack_i16(stream, k.into({keys, {kWidth, 1}}), Mask::kNone, 1);
        pack_i16(stream, v.into({keys, {1, kWidth}}), Mask::kNone, 1);
        pack_i16(stream, qt.into({rows.data(), turned(query)}), Mask::kNone, kHeads);
        pack_i16(stream, p.into({squares.data(), square}), Mask::kUpTo, kHeads);
        pack_i16(stream, pt.into({squares.data(), turned(square)}), Mask::kFromOn, kHeads);
        CardFloats c(squares.size(), 7.0F), d(rows.size(), 7.0F), e = d;
        product_i16(stream,
                    {.a = q.digits(),
                     .b = k.digits(kHeads, kHeads),
                     .c = output(c),
                     .to = square,
                     .scale = arithmetic::attention_scale(kDim)},
                    Mask::kLower, kHeads, all_processors());
        REQUIRE(same(c, scores));
        if (can_try_warpgroups()) {
            CardFloats wide(squares.size(), 7.0F);
            const ProductI16Args args{.a = q.digits(),
                                      .b = k.digits(kHeads, kHeads),
                                      .c = output(wide),
                                      .to = square,
                                      .scale = arithmetic::attention_scale(kDim)};
            using Wide = ProductI16Wide<2, 128, Mask::kLower, WideBlocks::kOne>;
            launch<Wide>(Wide::grid(args, kHeads), stream, args);
            REQUIRE(same(wide, scores));
        }
        product_i16(stream, {.a = p.digits(), .b = v.digits(kHeads, kHeads), .c = output(d), .to = query},
                    Mask::kUpTo, kHeads, all_processors());
        REQUIRE(same(d, up));
        product_i16(stream, {.a = pt.digits(), .b = qt.digits(), .c = output(e), .to = query}, Mask::kFromOn,
                    kHeads, all_processors());
        REQUIRE(same(e, down));
    });
}

TEST_CASE("mutants of the i16 product are found", "[trainer][cuda]") {
    std::mt19937 random(35);
    const ExactProductCase one(random, {40, 40, 150, 16384}, 2, false, false, ChainStart::kZero, Draw::kTame);
    const auto with = [&](auto pack, auto multiply) { return is_found_with(one, pack, multiply); };
    using enum ProductFault;
    REQUIRE_FALSE(with(Pack<Mask::kNone>{}, ProductI16<2, 2, 2, Mask::kNone>{}));
    REQUIRE(with(Pack<Mask::kNone, 2, 1, kStaleDigits>{}, ProductI16<2, 2, 2, Mask::kNone>{}));
    REQUIRE(with(Pack<Mask::kNone>{}, ProductI16<2, 2, 2, Mask::kNone, kCutSum>{}));
    REQUIRE(with(Pack<Mask::kNone>{}, ProductI16<2, 2, 2, Mask::kNone, kMissingBarrier>{}));
    if (!can_try_warpgroups()) return;
    REQUIRE_FALSE(with(Pack<Mask::kNone>{}, ProductI16Wide<2, 128>{}));
    REQUIRE(with(Pack<Mask::kNone>{}, ProductI16Wide<2, 128, Mask::kNone, WideBlocks::kSeveral, kCutSum>{}));
}

TEST_CASE("mutants of packing across lines are found", "[trainer][cuda]") {
    std::mt19937 random(37);
    const ExactProductCase one(random, {40, 40, 600, 16384}, 2, true, true, ChainStart::kZero, Draw::kTame);
    const auto with = [&](auto pack, auto multiply) { return is_found_with(one, pack, multiply); };
    using enum ProductFault;
    using Product = ProductI16<2, 2, 2, Mask::kNone>;
    REQUIRE_FALSE(with(PackAcross<Mask::kNone>{}, Product{}));
    REQUIRE(with(PackAcross<Mask::kNone, 2, kStaleDigits>{}, Product{}));
    REQUIRE(with(PackAcross<Mask::kNone, 2, kMissingBarrier>{}, Product{}));
    if (!can_try_warpgroups()) return;
    REQUIRE_FALSE(with(PackAcross<Mask::kNone>{}, ProductI16Wide<2, 128>{}));
    REQUIRE(with(PackAcross<Mask::kNone>{},
                 ProductI16Wide<2, 128, Mask::kNone, WideBlocks::kSeveral, kMissingBarrier>{}));
}

}  // namespace assay::trainer::cuda
