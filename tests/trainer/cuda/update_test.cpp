// SPDX-License-Identifier: Apache-2.0
// The end of a step by kernels (global norm, clip, AdamW, finiteness) against its definition in every order
// of threads.
#include <cmath>

#include "contracts/arithmetic/optimizer.hpp"
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
using test::TestStream;
// The law's norm of one matrix, and a kernel's.
float law_norm(std::size_t rows, std::size_t cols, const CardFloats& g) {
    CardFloats sums(arithmetic::tile_count(rows, cols));
    arithmetic::square_tiles(rows, cols, g, sums);
    return arithmetic::norm_of_tiles(sums);
}

template <TreeFault kFault>
CardFloats tree_by_kernel(TestStream& stream, const CardFloats& leaves) {
    CardFloats sums(TreeSum<kFault>::branches(leaves.size()));
    launch<TreeSum<kFault>>({static_cast<unsigned>(sums.size())}, stream,
                            TreeSumArgs{leaves.size(), leaves.data(), output(sums)});
    return sums;
}

struct AdamWCase {
    std::mt19937 random{48};
    CardFloats g = numbers(random, 300), w = numbers(random, 300), m = numbers(random, 300), v = m;
    CardFloats clip = {0.37F}, law_w, law_m, law_v;
    arithmetic::AdamWCoefficients c{.learning_rate = 3e-3F,
                                    .decay = 1e-4F,
                                    .beta1 = 0.9F,
                                    .one_minus_beta1 = 0.1F,
                                    .beta2 = 0.95F,
                                    .one_minus_beta2 = 0.05F,
                                    .correction1 = 1.9F,
                                    .correction2 = 3.1F,
                                    .epsilon = 1e-8F};
    AdamWCase() {
        for (float& value : v) value = std::fabs(value);
        law_w = w, law_m = m, law_v = v;
        arithmetic::adamw(c, clip[0], g, law_w, law_m, law_v);
    }
    template <class Run>
    bool is_right(const Run& run) const {
        CardFloats a = w, b = m, d = v;
        run(AdamWArgs{g.size(), c, clip.data(), g.data(), output(a), output(b), output(d)});
        return same(a, law_w) && same(b, law_m) && same(d, law_v);
    }
};
}  // namespace

TEST_CASE("the global norm and AdamW have the law's bits", "[trainer][cuda]") {
    std::mt19937 random(49);
    const std::pair<std::size_t, std::size_t> shapes[] = {
        {1, 1}, {17, 15}, {16, 8192}, {400, 351}, {16, 8208}, {50, 700}, {1, 1031}, {600, 16}, {37, 4}};
    for (const auto& shape : shapes) {
        const std::size_t rows = shape.first, cols = shape.second;
        INFO(rows << "x" << cols);
        const CardFloats g = numbers(random, rows * cols, test::Draw::kTame);
        const CardFloats wanted = {law_norm(rows, cols, g),
                                   arithmetic::clip_scale(law_norm(rows, cols, g), 3.0F)};
        in_every_order([&](TestStream& stream) {
            CardFloats sums(arithmetic::tile_count(rows, cols)), other(tree_scratch(sums.size())), norm(1),
                scale(1);
            const SquareMatrix matrix{.rows = rows, .cols = cols, .g = g.data()};
            square_tiles(stream, {&matrix, 1}, output(sums), nullptr);
            norm_of_tiles(stream, output(sums), output(other), output(norm), {});
            clip(stream, norm.data(), 3.0F, output(scale), {});
            test::settle();
            REQUIRE(same({norm[0], scale[0]}, wanted));
        });
    }
    const AdamWCase one;
    in_every_order([&](TestStream& stream) {
        REQUIRE(one.is_right([&](const AdamWArgs& args) { adamw(stream, UpdatePass::kAlways, {&args, 1}); }));
    });
}

TEST_CASE("many matrices at a time have the sums of each, wherever they begin", "[trainer][cuda]") {
    std::mt19937 random(51);
    constexpr std::size_t kMatrices = SquareTilesArgs::kMost + 3;
    const CardFloats g = numbers(random, 40'000, test::Draw::kTame);
    std::vector<SquareMatrix> matrices;
    CardFloats wanted;
    for (std::size_t i = 0; i < kMatrices; ++i) {
        SquareMatrix one{.rows = 1 + random() % 40, .cols = 1 + random() % 300, .first = wanted.size()};
        // Of some quads lie at addresses of 16 bytes.
        if (i % 2 == 0) one.cols = 4 * one.cols;
        while (one.rows * one.cols > 30'000) one.rows = one.rows / 2 + 1;
        const std::size_t from = i % 3 == 0 ? random() % 9'000 : random() % 2'000 * 4;
        one.g = g.data() + from;
        one.index = static_cast<unsigned>(i);
        matrices.push_back(one);
        CardFloats sums(arithmetic::tile_count(one.rows, one.cols));
        arithmetic::square_tiles(one.rows, one.cols, std::span(g).subspan(from, one.rows * one.cols), sums);
        wanted.insert(wanted.end(), sums.begin(), sums.end());
    }
    in_every_order([&](TestStream& stream) {
        CardFloats sums(wanted.size());
        test::Note diverged;
        square_tiles(stream, matrices, output(sums), diverged.at());
        REQUIRE(same(sums, wanted));
        REQUIRE(diverged.value() == kNoOperator);
        CardFloats broken(33, 1.0F);
        broken[32] = INFINITY;
        std::vector<SquareMatrix> more = matrices;
        more[40] = {.rows = 1, .cols = 33, .g = broken.data(), .first = more[40].first, .index = 40};
        square_tiles(stream, std::span(more).subspan(40, 1), output(sums), diverged.at());
        REQUIRE(diverged.value() == 40);
        // One of many, in the first launch or the second.
        for (const std::size_t i : {std::size_t{17}, kMatrices - 1}) {
            const SquareMatrix& one = matrices[i];
            CardFloats own(one.g, one.g + one.rows * one.cols);
            own.back() = -INFINITY;
            std::vector<SquareMatrix> all = matrices;
            all[i].g = own.data();
            test::Note note;
            CardFloats of_all(wanted.size());
            square_tiles(stream, all, output(of_all), note.at());
            REQUIRE(note.value() == i);
        }
    });
}

TEST_CASE("many tensors at a time have AdamW's bits, wherever they begin", "[trainer][cuda]") {
    std::mt19937 random(52);
    const AdamWCase one;
    constexpr std::size_t kTensors = AdamWTable::kMost + 2;
    CardFloats g = numbers(random, 14'000), w = numbers(random, 14'000), m = numbers(random, 14'000), v = w;
    for (float& value : v) value = std::fabs(value);
    CardFloats law_w = w, law_m = m, law_v = v;
    std::vector<AdamWArgs> tensors;
    std::size_t at = 0;
    CardFloats first_w = w, first_m = m, first_v = v;
    for (std::size_t i = 0; i < kTensors; ++i) {
        // Some have blocks that are full, and quads at addresses of 16 bytes or not.
        const std::size_t count = i == 3 || i == 10 || i == 20 ? 2'100 : 1 + random() % 200;
        if (i == 3 || i == 10) at = (at + 3) / 4 * 4;
        if (i == 20) at = (at + 3) / 4 * 4 + 1;
        AdamWArgs args{.count = count, .coefficients = one.c, .clip = one.clip.data(), .g = g.data() + at};
        // The gradient of one lies elsewhere than its weights.
        if (i == 10) ++args.g;
        if (i % 2 == 0) args.coefficients.decay = 0.0F;
        args.w.count = args.m.count = args.v.count = count;
        args.w.data = w.data() + at;
        args.m.data = m.data() + at;
        args.v.data = v.data() + at;
        args.index = static_cast<unsigned>(10 + i);
        tensors.push_back(args);
        const auto part = [&](CardFloats& all) { return std::span(all).subspan(at, count); };
        arithmetic::adamw(args.coefficients, one.clip[0], std::span(args.g, count), part(law_w), part(law_m),
                          part(law_v));
        at += count;
    }
    in_every_order([&](TestStream& stream) {
        w = first_w, m = first_m, v = first_v;
        test::Note diverged;
        for (AdamWArgs& args : tensors) args.diverged = diverged.at();
        adamw(stream, UpdatePass::kTry, tensors);
        REQUIRE((same(w, first_w) && same(m, first_m) && same(v, first_v)));
        REQUIRE(diverged.value() == kNoOperator);
        adamw(stream, UpdatePass::kApply, tensors);
        REQUIRE((same(w, law_w) && same(m, law_m) && same(v, law_v)));
        w = first_w, m = first_m, v = first_v;
        // A full block, of quads and of single numbers.
        for (const std::size_t i : {3U, 20U}) {
            float& weight = tensors[i].w.data[77];
            const float before = weight;
            weight = INFINITY;
            diverged.set(kNoOperator);
            adamw(stream, UpdatePass::kTry, tensors);
            REQUIRE(diverged.value() == 10 + i);
            weight = before;
            adamw(stream, UpdatePass::kApply, tensors);
            REQUIRE((same(w, first_w) && same(m, first_m) && same(v, first_v)));
        }
        adamw(stream, UpdatePass::kAlways, tensors);
        REQUIRE((same(w, law_w) && same(m, law_m) && same(v, law_v)));
    });
}

TEST_CASE("a trial finds what an update would find, of any numbers and coefficients", "[trainer][cuda]") {
    std::mt19937 random(53);
    const AdamWCase one;
    const float values[] = {0.0F,    -0.0F,     1.0F,    0x1p40F,   -0x1p41F, 0x1p60F,  -0x1p62F,
                            0x1p90F, -0x1p127F, 3.4e38F, 0x1p-140F, -1e-30F,  INFINITY, std::nanf("")};
    const float factors[] = {0.0F,     0.1F,  1.0F,  0x1p10F,  0x1p12F,   0x1p20F,      0x1p40F,
                             0x1p100F, -1.0F, 1e-8F, 0x1p-41F, -INFINITY, std::nanf("")};
    const auto pick = [&](const auto& of) { return of[random() % std::size(of)]; };
    TestStream stream = test::one_stream();
    unsigned finite = 0;
    for (int n = 0; n < 4'000; ++n) {
        CardFloats g(1, pick(values)), w(1, pick(values)), m(1, pick(values)), v(1, pick(values));
        // Of most cases some numbers are ordinary.
        if (random() % 2 == 0) g[0] = 0.5F;
        if (random() % 2 == 0) w[0] = 0.25F;
        if (random() % 2 == 0) m[0] = 0.125F;
        if (random() % 2 == 0) v[0] = 0.0625F;
        arithmetic::AdamWCoefficients c = one.c;
        for (float* const factor : {&c.learning_rate, &c.decay, &c.correction1, &c.correction2, &c.epsilon})
            if (random() % 3 == 0) *factor = pick(factors);
        CardFloats after[3] = {w, m, v};
        arithmetic::adamw(c, one.clip[0], g, after[0], after[1], after[2]);
        const bool wanted =
            std::isfinite(after[0][0]) && std::isfinite(after[1][0]) && std::isfinite(after[2][0]);
        test::Note diverged;
        const AdamWArgs args{1,         c,         one.clip.data(), g.data(), output(w),
                             output(m), output(v), diverged.at(),   3};
        adamw(stream, UpdatePass::kTry, {&args, 1});
        REQUIRE((diverged.value() == kNoOperator) == wanted);
        finite += wanted ? 1 : 0;
    }
    REQUIRE((finite > 400 && finite < 3'600));
}

TEST_CASE("the first operator with a number that is not finite is noted, and stops the update",
          "[trainer][cuda]") {
    CardFloats numbers(600, 1.0F);
    in_every_order([&](TestStream& stream) {
        test::Note diverged;
        const auto check = [&](unsigned index, std::uint64_t cols) {
            check_finite(stream, {numbers.data(), 20, cols, 30, diverged.at(), index});
            return diverged.value();
        };
        numbers[29] = NAN;
        REQUIRE(check(9, 29) == kNoOperator);
        REQUIRE(check(9, 30) == 9);
        REQUIRE(check(11, 30) == 9);
        REQUIRE(check(4, 30) == 4);
        const AdamWCase one;
        CardFloats w = one.w, m = one.m, v = one.v;
        AdamWArgs args{w.size(),      one.c, one.clip.data(), one.g.data(), output(w), output(m), output(v),
                       diverged.at(), 3};
        adamw(stream, UpdatePass::kApply, {&args, 1});
        REQUIRE((same(w, one.w) && same(m, one.m) && same(v, one.v)));
        args.coefficients.learning_rate = INFINITY;
        adamw(stream, UpdatePass::kTry, {&args, 1});
        REQUIRE(diverged.value() == 3);
        REQUIRE(same(w, one.w));
    });
}

TEST_CASE("an infinity is not finite, in a weight or in a moment alone", "[trainer][cuda]") {
    const AdamWCase one;
    in_every_order([&](TestStream& stream) {
        for (const float infinite : {INFINITY, -INFINITY}) {
            test::Note diverged;
            const CardFloats number(1, infinite);
            check_finite(stream, {number.data(), 1, 1, 1, diverged.at(), 5});
            REQUIRE(diverged.value() == 5);
        }
        // What a step starts from is finite, the moment that it gives is not, and no weight moves.
        for (const bool second : {false, true}) {
            test::Note diverged;
            CardFloats g(1, second ? 1e30F : 0.0F), w(1, 1.0F), m(1, second ? 0.0F : 3e38F), v(1, 0.0F);
            arithmetic::AdamWCoefficients c = one.c;
            c.learning_rate = 0.0F;
            if (!second) c.beta1 = 2.0F;
            const AdamWArgs args{1,         c,         one.clip.data(), g.data(), output(w),
                                 output(m), output(v), diverged.at(),   6};
            adamw(stream, UpdatePass::kTry, {&args, 1});
            REQUIRE(diverged.value() == 6);
        }
    });
}

TEST_CASE("mutants of the norm and of AdamW are found", "[trainer][cuda]") {
    std::mt19937 random(50);
    const CardFloats leaves = numbers(random, 700, test::Draw::kTame);
    TestStream plain = test::one_stream();
    const CardFloats branches = tree_by_kernel<TreeFault::kNone>(plain, leaves);
    REQUIRE(is_found([&](TestStream& stream) {
        return same(tree_by_kernel<TreeFault::kLosesOdd>(stream, leaves), branches);
    }));
    const AdamWCase adam;
    REQUIRE(is_found([&](TestStream& stream) {
        return adam.is_right([&](const AdamWArgs& args) {
            AdamWTable table{.count = 1};
            table.tensors[0] = args;
            using Mutant = AdamW<UpdatePass::kAlways, UpdateFault::kReciprocal>;
            launch<Mutant>({Mutant::blocks(args)}, stream, table);
        });
    }));
}

}  // namespace assay::trainer::cuda
