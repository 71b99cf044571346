// SPDX-License-Identifier: Apache-2.0
// Every kernel of every target against its definition, bit for bit.
#include "trainer/cpu/kernels/kernels.hpp"

#include <bit>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/share.hpp"
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

struct Tables {
    const Kernels& kernels;
    const ProductKernels& products;
};
Tables tables(Target target) { return {kernels(target), products(program::Profile::kF32, target)}; }

// Calls check(definition, kernels, random) for every vector target.
template <class Check>
void for_each_target(unsigned seed, int repeats, const Check& check) {
    for (const Target target : test::all_targets()) {
        if (target == Target::kScalar) continue;
        std::mt19937 random(seed);
        for (int i = 0; i < assay::test::repeats(repeats); ++i) {
            INFO("target " << to_text(target) << ", seed " << seed << ", repeat " << i);
            check(tables(Target::kScalar), tables(target), random);
        }
    }
}

// Terms of the largest product that a sample has.
constexpr std::size_t kMostSampled = 9'000'000;

std::size_t pick(std::mt19937& random, std::size_t most) { return 1 + random() % most; }
}  // namespace

TEST_CASE("largest magnitudes of rows and columns are those of the definition", "[trainer][kernels]") {
    for_each_target(10, 60, [&](const Tables& law, const Tables& fast, std::mt19937& random) {
        const std::size_t rows = random() % 12, cols = 1 + random() % 150, stride = cols + random() % 3;
        Values x = numbers(random, rows * stride + 1);
        // What lies between rows counts for nothing.
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = cols; j < stride; ++j) x[i * stride + j] = 3e38F;
        }
        if (rows > 0 && random() % 4 == 0) {
            x[random() % rows * stride + random() % cols] = random() % 2 == 0
                                                                ? -std::numeric_limits<float>::infinity()
                                                                : std::numeric_limits<float>::quiet_NaN();
        }
        // Columns begin with what earlier rows had; the place after the last one stays.
        std::vector<std::int32_t> columns(cols + 1), row(rows + 1, -7);
        for (std::int32_t& one : columns) one = static_cast<std::int32_t>(random() >> 1U) & 0x3fffffff;
        std::vector<std::int32_t> fast_columns = columns, fast_row = row;
        law.kernels.largest({rows, cols, stride}, x.data(), row.data(), columns.data());
        fast.kernels.largest({rows, cols, stride}, x.data(), fast_row.data(), fast_columns.data());
        REQUIRE(row == fast_row);
        REQUIRE(columns == fast_columns);
    });
}

TEST_CASE("products in every layout have the bits of their definition", "[trainer][kernels]") {
    ThreadPool one(1), two(2), three(3);
    for_each_target(11, 90, [&](const Tables& law, const Tables& fast, std::mt19937& random) {
        const std::size_t m = pick(random, random() % 6 == 0 ? 300 : 70), n = pick(random, 90);
        const std::size_t k = random() % 8 == 0 ? random() % 2 : pick(random, random() % 6 == 0 ? 900 : 80);
        const bool wide = random() % 10 == 0;  // more columns than the widest block of B has
        const std::size_t columns = wide ? n + 1100 : n, stride = columns + random() % 3;
        const Values a = numbers(random, m * k), b = numbers(random, k * columns);
        const Values bias = numbers(random, columns);
        Values c = numbers(random, m * stride), d = c;
        Product p{m, columns, k, {}, {}, c.data(), stride};
        p.a = random() % 2 == 0 ? MatrixView{a.data(), k, 1} : MatrixView{a.data(), 1, m};
        p.b = random() % 2 == 0 ? MatrixView{b.data(), columns, 1} : MatrixView{b.data(), 1, k};
        p.start = random() % 2 == 0 ? ChainStart::kZero : ChainStart::kCarry;
        if (random() % 3 == 0) p.bias = bias.data();
        const bool good = law.products.product(p, one);
        p.c = d.data();
        ThreadPool& pool = random() % 3 == 0 ? one : random() % 2 == 0 ? two : three;
        INFO(m << "x" << columns << "x" << k << " on " << pool.threads() << " threads");
        REQUIRE(fast.products.product(p, pool) == good);
        REQUIRE(same(c, d));
    });
}

TEST_CASE("products go on from one block of k to the next with the same bits", "[trainer][kernels]") {
    // Blocks are of 768 terms at most, of 384 where A is packed: here they are one, two and more of them, of
    // even and of odd lengths, and rows a page apart. Tiles whole and cut, in both directions.
    constexpr std::size_t kRows = 31, kColumns = 45, kStride = 47;
    ThreadPool one(1);
    for_each_target(24, 1, [&](const Tables& law, const Tables& fast, std::mt19937& random) {
        for (const std::size_t k : {384U, 385U, 768U, 769U, 1024U, 1537U}) {
            const Values a = numbers(random, kRows * k), b = numbers(random, k * kColumns);
            const Values bias = numbers(random, kColumns), before = numbers(random, kRows * kStride);
            for (const bool by_rows : {true, false}) {
                for (const ChainStart start : {ChainStart::kZero, ChainStart::kCarry}) {
                    for (const float* added : {static_cast<const float*>(nullptr), bias.data()}) {
                        INFO("k " << k << (by_rows ? ", A by rows" : ", A by columns")
                                  << (start == ChainStart::kCarry ? ", carried" : "")
                                  << (added != nullptr ? ", bias" : ""));
                        Values c = before, d = before;
                        Product p{kRows, kColumns, k, {}, {b.data(), kColumns, 1}, c.data(), kStride, start};
                        p.a = by_rows ? MatrixView{a.data(), k, 1} : MatrixView{a.data(), 1, kRows};
                        p.bias = added;
                        const bool good = law.products.product(p, one);
                        p.c = d.data();
                        REQUIRE(fast.products.product(p, one) == good);
                        REQUIRE(same(c, d));
                    }
                }
            }
        }
    });
}

TEST_CASE("products on two threads have the same bits however they share them", "[trainer][kernels]") {
    // Columns, fewer of them than rows, and packed rows (a share of rows each); blocks of B that are full, in
    // both ways of taking A; rows a page apart.
    struct Shape {
        std::size_t m, n, k;
        bool by_rows;
    };
    ThreadPool one(1), two(2);
    for_each_target(25, 1, [&](const Tables& law, const Tables& fast, std::mt19937& random) {
        for (const Shape& shape :
             {Shape{40, 300, 30, true}, Shape{400, 300, 30, false}, Shape{290, 260, 1024, true},
              Shape{20, 1030, 390, false}, Shape{20, 1030, 2048, true}, Shape{20, 520, 770, true}}) {
            const auto [m, n, k, by_rows] = shape;
            if (assay::test::is_sample() && m * n * k > kMostSampled) continue;
            INFO(m << "x" << n << "x" << k << (by_rows ? ", A by rows" : ", A by columns"));
            const Values a = numbers(random, m * k), b = numbers(random, k * n);
            Values c(m * n);
            Product p{m, n, k, {}, {b.data(), n, 1}, c.data(), n};
            p.a = by_rows ? MatrixView{a.data(), k, 1} : MatrixView{a.data(), 1, m};
            const bool good = law.products.product(p, one);
            for (ThreadPool* pool : {&one, &two}) {
                Values d(m * n, 7.0F);
                p.c = d.data();
                REQUIRE(fast.products.product(p, *pool) == good);
                REQUIRE(same(c, d));
            }
        }
    });
}

TEST_CASE("a product says whether all that it wrote is finite", "[trainer][kernels]") {
    ThreadPool pool(2);
    for (const Target target : test::all_targets()) {
        std::mt19937 random(21);
        for (int i = 0; i < assay::test::repeats(40); ++i) {
            const std::size_t m = pick(random, 50), n = pick(random, 100), k = pick(random, 300);
            Values a(m * k, 1.0F), b(k * n, 1.0F), c(m * n), bias(n, 1.0F);
            Product p{m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, c.data(), n};
            if (i % 2 == 0) p.bias = bias.data();
            REQUIRE(products(program::Profile::kF32, target).product(p, pool));
            const std::size_t row = random() % m, column = random() % n;
            a[row * k + random() % k] = 3e38F;  // the chain of one row goes beyond the range
            for (std::size_t j = 0; j < k; ++j) b[j * n + column] = 3e38F;
            REQUIRE_FALSE(products(program::Profile::kF32, target).product(p, pool));
        }
    }
}

TEST_CASE("pointwise kernels have the bits of their definition", "[trainer][kernels]") {
    for_each_target(12, 60, [](const Tables& law, const Tables& fast, std::mt19937& random) {
        const std::size_t n = pick(random, 200);
        const Values x = numbers(random, n), y = numbers(random, n);
        Values a(n), b(n);
        REQUIRE(law.kernels.gelu_forward(x, a) == fast.kernels.gelu_forward(x, b));
        REQUIRE(same(a, b));
        REQUIRE(law.kernels.add(x, y, a) == fast.kernels.add(x, y, b));
        REQUIRE(same(a, b));
        Values bounded = numbers(random, n, false);
        REQUIRE(law.kernels.gelu_backward(bounded, y, a) == fast.kernels.gelu_backward(bounded, y, b));
        REQUIRE(same(a, b));
        Values c = numbers(random, 3 * n), d = c;
        REQUIRE(law.kernels.add_bias(x, c) == fast.kernels.add_bias(x, d));
        REQUIRE(same(c, d));
    });
}

TEST_CASE("norms have the bits of their definition", "[trainer][kernels]") {
    for_each_target(13, 60, [](const Tables& law, const Tables& fast, std::mt19937& random) {
        const std::size_t n = pick(random, 300), rows = pick(random, 12);
        const Values x = numbers(random, n * rows), dy = numbers(random, n * rows, false);
        const Values gain = numbers(random, n), bias = numbers(random, n);
        Values y1(n * rows), y2(n * rows), m1(rows), m2(rows), r1(rows), r2(rows);
        REQUIRE(law.kernels.layer_norm_forward(x, gain, bias, y1, {m1, r1}) ==
                fast.kernels.layer_norm_forward(x, gain, bias, y2, {m2, r2}));
        REQUIRE(same(y1, y2));
        REQUIRE(same(m1, m2));
        REQUIRE(same(r1, r2));
        REQUIRE(law.kernels.layer_norm_input_gradient(dy, x, gain, {m1, r1}, y1) ==
                fast.kernels.layer_norm_input_gradient(dy, x, gain, {m1, r1}, y2));
        REQUIRE(same(y1, y2));
        Values g1 = numbers(random, n), g2 = g1, b1 = numbers(random, n), b2 = b1;
        REQUIRE(law.kernels.layer_norm_parameter_gradient({rows, n, n}, dy.data(), x.data(), {m1, r1},
                                                          g1.data(), b1.data()) ==
                fast.kernels.layer_norm_parameter_gradient({rows, n, n}, dy.data(), x.data(), {m1, r1},
                                                           g2.data(), b2.data()));
        REQUIRE(same(g1, g2));
        REQUIRE(same(b1, b2));
        REQUIRE(law.kernels.bias_gradient({rows, n, n}, x.data(), b1.data()) ==
                fast.kernels.bias_gradient({rows, n, n}, x.data(), b2.data()));
        REQUIRE(same(b1, b2));
        // A thread's share of the columns.
        const std::size_t first = random() % n, share = pick(random, n - first);
        const ColumnShape part{rows, share, n};
        REQUIRE(law.kernels.bias_gradient(part, x.data() + first, b1.data()) ==
                fast.kernels.bias_gradient(part, x.data() + first, b2.data()));
        REQUIRE(same(b1, b2));
        REQUIRE(law.kernels.layer_norm_parameter_gradient(part, dy.data() + first, x.data() + first, {m1, r1},
                                                          g1.data(), b1.data()) ==
                fast.kernels.layer_norm_parameter_gradient(part, dy.data() + first, x.data() + first,
                                                           {m1, r1}, g2.data(), b2.data()));
        REQUIRE(same(g1, g2));
        REQUIRE(same(b1, b2));
    });
}

TEST_CASE("attention has the bits of its definition, forward and backward", "[trainer][kernels]") {
    for_each_target(14, 60, [](const Tables& law, const Tables& fast, std::mt19937& random) {
        const std::size_t n = pick(random, random() % 4 == 0 ? 200 : 70), d = pick(random, 70);
        const std::size_t stride = 3 * d + random() % 5;
        const Values qkv = numbers(random, n * stride + 3 * d, random() % 2 == 0);
        const arithmetic::HeadShape shape{n, d};
        const auto third = [&](std::size_t i) { return arithmetic::HeadView{qkv.data() + i * d, stride}; };
        // What lies above the diagonal, and beside a head's columns, must stay.
        Values a = numbers(random, n * n), b = a, p1 = a, p2 = a, v1(n), v2(n), s1(n), s2(n);
        const std::size_t wide = d + random() % 3;
        Values o1 = numbers(random, n * wide), o2 = o1;
        const auto same_out = [&](bool x, bool y) { return x == y && same(o1, o2); };
        REQUIRE(law.products.attention_scores(shape, third(0), third(1), a) ==
                fast.products.attention_scores(shape, third(0), third(1), b));
        REQUIRE(same(a, b));
        Values f1 = a, f2 = a;
        REQUIRE(law.kernels.softmax(n, f1, v1, s1) == fast.kernels.softmax(n, f2, v2, s2));
        REQUIRE(same(f1, f2));
        REQUIRE(same(v1, v2));
        REQUIRE(same(s1, s2));
        law.kernels.softmax_max(n, a, v1), fast.kernels.softmax_max(n, a, v2);
        REQUIRE(same(v1, v2));
        law.kernels.softmax_exp(n, a, v1, p1), fast.kernels.softmax_exp(n, a, v1, p2);
        REQUIRE(same(p1, p2));
        law.kernels.softmax_sum(n, p1, s1), fast.kernels.softmax_sum(n, p1, s2);
        REQUIRE(same(s1, s2));
        law.kernels.softmax_divide(n, p1, s1, p1), fast.kernels.softmax_divide(n, p2, s1, p2);
        REQUIRE(same(p1, p2));
        f2 = a;
        fast.kernels.softmax_again(n, f2, v1, s1);
        REQUIRE(same(f1, f2));
        REQUIRE(same_out(law.products.attention_values(shape, p1, third(2), {o1.data(), wide}),
                         fast.products.attention_values(shape, p1, third(2), {o2.data(), wide})));
        REQUIRE(law.products.attention_probability_gradient(shape, third(0), third(2), a) ==
                fast.products.attention_probability_gradient(shape, third(0), third(2), b));
        REQUIRE(same(a, b));
        f1 = a, f2 = a;
        REQUIRE(law.kernels.softmax_backward(shape, f1, p1) == fast.kernels.softmax_backward(shape, f2, p1));
        REQUIRE(same(f1, f2));
        law.kernels.softmax_dot(n, a, p1, v1), fast.kernels.softmax_dot(n, a, p1, v2);
        REQUIRE(same(v1, v2));
        law.kernels.softmax_gradient(shape, a, p1, v1, a), fast.kernels.softmax_gradient(shape, b, p1, v1, b);
        REQUIRE(same(a, b));
        REQUIRE(same_out(law.products.attention_query_gradient(shape, a, third(1), {o1.data(), wide}),
                         fast.products.attention_query_gradient(shape, a, third(1), {o2.data(), wide})));
        for (const ChainStart start : {ChainStart::kZero, ChainStart::kCarry}) {
            REQUIRE(
                same_out(law.products.attention_key_gradient(shape, a, third(0), {o1.data(), wide}, start),
                         fast.products.attention_key_gradient(shape, a, third(0), {o2.data(), wide}, start)));
            REQUIRE(same_out(
                law.products.attention_value_gradient(shape, p1, third(0), {o1.data(), wide}, start),
                fast.products.attention_value_gradient(shape, p1, third(0), {o2.data(), wide}, start)));
        }
    });
}

TEST_CASE("attention of long sequences and wide heads goes in blocks with the same bits",
          "[trainer][kernels]") {
    const std::pair<std::size_t, std::size_t> shapes[] = {{495, 34}, {250, 1}, {37, 300}, {20, 520}, {1, 64}};
    for_each_target(22, 1, [&](const Tables& law, const Tables& fast, std::mt19937& random) {
        for (const auto& [n, d] : shapes) {
            if (assay::test::is_sample() && n * n * d > kMostSampled) continue;
            INFO(n << " tokens, " << d << " numbers");
            const Values q = numbers(random, n * d), k = numbers(random, n * d), m = numbers(random, n * n);
            const arithmetic::HeadShape shape{n, d};
            Values a(n * n, 0.0F), b = a, x(n * d), y(n * d);
            law.products.attention_scores(shape, {q.data(), d}, {k.data(), d}, a);
            fast.products.attention_scores(shape, {q.data(), d}, {k.data(), d}, b);
            REQUIRE(same(a, b));
            law.products.attention_values(shape, m, {k.data(), d}, {x.data(), d});
            fast.products.attention_values(shape, m, {k.data(), d}, {y.data(), d});
            REQUIRE(same(x, y));
            for (const ChainStart start : {ChainStart::kZero, ChainStart::kCarry}) {
                law.products.attention_key_gradient(shape, m, {q.data(), d}, {x.data(), d}, start);
                fast.products.attention_key_gradient(shape, m, {q.data(), d}, {y.data(), d}, start);
                REQUIRE(same(x, y));
            }
        }
    });
}

TEST_CASE("a masked term is not added, so a sum may stay -0", "[trainer][kernels]") {
    // fma(-tiny, tiny, +0) rounds to -0; one more term of +0 would make it +0.
    for (const Target target : test::all_targets()) {
        const std::size_t n = 40, d = 20;
        Values p(n * n, 0.0F), v(n * d, 1e-30F), o(n * d, 1.0F);
        for (std::size_t i = 0; i < n; ++i) p[i * n + i] = -1e-30F;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < i; ++j) p[i * n + j] = -1e-30F;
        }
        const ProductKernels& kernels = products(program::Profile::kF32, target);
        REQUIRE(kernels.attention_values({n, d}, p, {v.data(), d}, {o.data(), d}));
        REQUIRE(same(o, Values(n * d, -0.0F)));
        REQUIRE(kernels.attention_key_gradient({n, d}, p, {v.data(), d}, {o.data(), d}, ChainStart::kZero));
        REQUIRE(same(o, Values(n * d, -0.0F)));
    }
}

TEST_CASE("Llama's kernels have the bits of their definition", "[trainer][kernels]") {
    for_each_target(23, 60, [](const Tables& law, const Tables& fast, std::mt19937& random) {
        const std::size_t n = pick(random, 300), rows = pick(random, 12);
        const Values x = numbers(random, n * rows), dy = numbers(random, n * rows, false);
        const Values gain = numbers(random, n);
        Values y1(n * rows), y2(n * rows), r1(rows), r2(rows);
        REQUIRE(law.kernels.rms_norm_forward(1e-5F, x, gain, y1, r1) ==
                fast.kernels.rms_norm_forward(1e-5F, x, gain, y2, r2));
        REQUIRE(same(y1, y2));
        REQUIRE(same(r1, r2));
        REQUIRE(law.kernels.rms_norm_input_gradient(dy, x, gain, r1, y1) ==
                fast.kernels.rms_norm_input_gradient(dy, x, gain, r1, y2));
        REQUIRE(same(y1, y2));
        Values g1 = numbers(random, n), g2 = g1;
        REQUIRE(law.kernels.rms_norm_parameter_gradient({rows, n, n}, dy.data(), x.data(), r1, g1.data()) ==
                fast.kernels.rms_norm_parameter_gradient({rows, n, n}, dy.data(), x.data(), r1, g2.data()));
        REQUIRE(same(g1, g2));

        const std::size_t half = pick(random, 40), heads = pick(random, 4), first = random() % 3;
        const arithmetic::RopeShape shape{rows, heads, 2 * half, 2 * half * heads + random() % 4, first};
        const Values cos = numbers(random, (rows + first) * half), sin = numbers(random, cos.size());
        Values a = numbers(random, rows * shape.stride), b = a;
        REQUIRE(law.kernels.rope_forward(shape, {cos, sin}, a.data()) ==
                fast.kernels.rope_forward(shape, {cos, sin}, b.data()));
        REQUIRE(same(a, b));
        REQUIRE(law.kernels.rope_backward(shape, {cos, sin}, a.data()) ==
                fast.kernels.rope_backward(shape, {cos, sin}, b.data()));
        REQUIRE(same(a, b));

        const Values gates = numbers(random, 2 * n * rows);
        Values d1(2 * n * rows), d2 = d1;
        REQUIRE(law.kernels.swiglu_forward(n, gates, y1) == fast.kernels.swiglu_forward(n, gates, y2));
        REQUIRE(same(y1, y2));
        REQUIRE(law.kernels.swiglu_backward(n, gates, dy, d1) ==
                fast.kernels.swiglu_backward(n, gates, dy, d2));
        REQUIRE(same(d1, d2));
    });
}

TEST_CASE("bits are bounded by a limit under a mask", "[trainer][kernels]") {
    for (const Target target : test::all_targets()) {
        for (std::size_t n = 1; n < 40; ++n) {
            Values x(n, -1.0F);
            REQUIRE(kernels(target).bounded(x, 0x7fffffffU, 0x3f800000U));
            REQUIRE_FALSE(kernels(target).bounded(x, 0xffffffffU, 0x3f800000U));
            x[n / 2] = 1.0000001F;
            REQUIRE_FALSE(kernels(target).bounded(x, 0x7fffffffU, 0x3f800000U));
        }
    }
}

TEST_CASE("the loss has the bits of its definition", "[trainer][kernels]") {
    int repeat = 0;
    for_each_target(15, 60, [&](const Tables& law, const Tables& fast, std::mt19937& random) {
        const bool whole_vocabulary = repeat++ % 60 == 0;  // of GPT-2, once for each target
        const std::size_t v = whole_vocabulary ? 50'257 : pick(random, 300);
        const std::size_t rows = whole_vocabulary ? 2 : pick(random, 5);
        const Values x = numbers(random, v * rows);
        Values m1(rows), m2(rows), e1(v * rows), e2(v * rows);
        Values whole = x, forward = x, loss1(rows), loss2(rows);
        law.kernels.loss_max(v, x, m1), fast.kernels.loss_max(v, x, m2);
        REQUIRE(same(m1, m2));
        law.kernels.loss_exp(v, x, m1, e1), fast.kernels.loss_exp(v, x, m1, e2);
        REQUIRE(same(e1, e2));
        law.kernels.loss_sum(v, e1, m1), fast.kernels.loss_sum(v, e1, m2);
        REQUIRE(same(m1, m2));
        std::vector<std::uint32_t> targets(rows);
        for (auto& target : targets) target = static_cast<std::uint32_t>(random() % v);
        fast.kernels.loss_rows_forward(v, targets, forward, loss2);
        REQUIRE(same(e1, forward));
        law.kernels.loss_gradient(v, 0.01F, e1, m1, targets, e1);
        fast.kernels.loss_gradient(v, 0.01F, e2, m1, targets, e2);
        REQUIRE(same(e1, e2));
        REQUIRE(fast.kernels.loss_rows(v, 0.01F, targets, whole, loss1));
        REQUIRE(same(e1, whole));
        REQUIRE(same(loss1, loss2));
        law.kernels.loss_rows_forward(v, targets, forward = x, loss1);
        REQUIRE(same(loss1, loss2));
    });
}

TEST_CASE("maxima take the lowest index among zeros of both signs", "[trainer][kernels]") {
    for_each_target(16, 60, [](const Tables& law, const Tables& fast, std::mt19937& random) {
        const std::size_t v = pick(random, 90);
        Values x(v);
        for (float& value : x) value = random() % 3 == 0 ? -1.0F : (random() % 2 == 0 ? 0.0F : -0.0F);
        Values a(1), b(1);
        law.kernels.loss_max(v, x, a), fast.kernels.loss_max(v, x, b);
        REQUIRE(same(a, b));
    });
}

TEST_CASE("tile norms and AdamW have the bits of their definition", "[trainer][kernels]") {
    for_each_target(17, 60, [](const Tables& law, const Tables& fast, std::mt19937& random) {
        const std::size_t rows = pick(random, 40), cols = pick(random, 400), n = rows * cols;
        const Values g = numbers(random, n, false);
        Values s1(arithmetic::tile_count(rows, cols)), s2 = s1;
        law.kernels.square_tiles(rows, cols, g, s1), fast.kernels.square_tiles(rows, cols, g, s2);
        REQUIRE(same(s1, s2));
        Values w1 = numbers(random, n), m1 = numbers(random, n), v1 = numbers(random, n);
        for (float& v : v1) v = std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) & 0x7fffffffU);
        Values w2 = w1, m2 = m1, v2 = v1;
        const arithmetic::AdamWCoefficients c{1e-3F, 1e-4F, 0.9F, 0.1F, 0.95F, 0.05F, 2.0F, 3.0F, 1e-8F};
        law.kernels.adamw(c, 0.7F, g, w1, m1, v1), fast.kernels.adamw(c, 0.7F, g, w2, m2, v2);
        REQUIRE(same(w1, w2));
        REQUIRE(same(m1, m2));
        REQUIRE(same(v1, v2));
    });
}

TEST_CASE("the outer step has the bits of its definition and tells an overflow", "[trainer][kernels]") {
    for_each_target(18, 100, [](const Tables& law, const Tables& fast, std::mt19937& random) {
        const std::size_t n = pick(random, 200);
        const Values g = numbers(random, n);
        Values w1 = numbers(random, n), m1 = numbers(random, n);
        const std::size_t at = random() % n;
        if (random() % 2 == 0) (random() % 2 == 0 ? w1 : m1)[at] = 3.4e38F;
        Values w2 = w1, m2 = m1;
        const float momentum = random() % 2 == 0 ? 0.9F : 2.0F;
        REQUIRE(law.kernels.outer_nesterov({0.7F, momentum}, g, w1, m1) ==
                fast.kernels.outer_nesterov({0.7F, momentum}, g, w2, m2));
        REQUIRE(same(w1, w2));
        REQUIRE(same(m1, m2));
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
