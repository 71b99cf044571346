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
using test::start;
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
        {1, 1}, {17, 15}, {16, 8192}, {400, 351}, {16, 8208}};
    for (const auto& shape : shapes) {
        const std::size_t rows = shape.first, cols = shape.second;
        INFO(rows << "x" << cols);
        const CardFloats g = numbers(random, rows * cols, test::Draw::kTame);
        const CardFloats wanted = {law_norm(rows, cols, g),
                                   arithmetic::clip_scale(law_norm(rows, cols, g), 3.0F)};
        in_every_order([&](TestStream& stream) {
            CardFloats sums(arithmetic::tile_count(rows, cols)), other(tree_scratch(sums.size())), norm(1),
                scale(1);
            square_tiles(stream, {rows, cols, g.data(), output(sums)});
            norm_of_tiles(stream, output(sums), output(other), output(norm), {});
            clip(stream, norm.data(), 3.0F, output(scale), {});
            test::settle();
            REQUIRE(same({norm[0], scale[0]}, wanted));
        });
    }
    const AdamWCase one;
    in_every_order([&](TestStream& stream) {
        REQUIRE(one.is_right([&](const AdamWArgs& args) { adamw(stream, UpdatePass::kAlways, args); }));
    });
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
        adamw(stream, UpdatePass::kApply, args);
        REQUIRE((same(w, one.w) && same(m, one.m) && same(v, one.v)));
        args.coefficients.learning_rate = INFINITY;
        adamw(stream, UpdatePass::kTry, args);
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
            adamw(stream, UpdatePass::kTry, args);
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
            start<AdamW<UpdatePass::kAlways, UpdateFault::kReciprocal>>(stream, args);
        });
    }));
}

}  // namespace assay::trainer::cuda
