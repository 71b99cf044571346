// SPDX-License-Identifier: Apache-2.0
// Products of profile f32 on the emulated GPU against their definitions, bit for bit, in every order of
// threads.
#if !defined(__CUDACC__)
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#endif

#include <cmath>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/product.hpp"
#include "tests/trainer/cuda/cuda_support.hpp"
#include "trainer/cuda/launch/products.hpp"

namespace assay::trainer::cuda {
namespace {
using test::CardFloats;
using test::in_every_order;
using test::is_found;
using test::numbers;
using test::output;
using test::same;
using test::TestStream;

struct F32Shape {
    unsigned m, n, k;
};
// Single numbers, tiles whole and cut, no k, and k of one tile, whole and cut, and of several.
constexpr F32Shape kF32Shapes[] = {{1, 1, 1},    {3, 5, 0},   {32, 32, 16}, {33, 31, 17},
                                   {70, 40, 48}, {5, 130, 7}, {129, 9, 33}};

enum class Form { kPlain, kTransposedB, kTransposedA };

ProductF32Args arguments(Form form, F32Shape s, const CardFloats& a, const CardFloats& b, CardFloats& c) {
    ProductF32Args args{.m = s.m, .n = s.n, .k = s.k, .c = output(c), .to = {.row_stride = s.n}};
    args.a = {a.data(), form == Form::kTransposedA ? OperandPlace{1, s.m} : OperandPlace{s.k, 1}};
    args.b = {b.data(), form == Form::kTransposedB ? OperandPlace{1, s.k} : OperandPlace{s.n, 1}};
    args.carry = form == Form::kTransposedA;
    return args;
}

void law(Form form, F32Shape s, const CardFloats& a, const CardFloats& b, CardFloats& c) {
    const arithmetic::ProductShape shape{s.m, s.n, s.k};
    if (form == Form::kPlain) arithmetic::product_nn(shape, a, b, c);
    if (form == Form::kTransposedB) arithmetic::product_nt(shape, a, b, c);
    if (form == Form::kTransposedA) arithmetic::product_tn_carry(shape, a, b, c);
}

// A product whose chain stands at −0 where k ends: a −0 that goes on.
struct Tiny {
    F32Shape shape{3, 3, 5};
    CardFloats a = CardFloats(15, 1e-30F), b = CardFloats(15, -1e-30F), c = CardFloats(9), wanted = c;
    Tiny() { law(Form::kPlain, shape, a, b, wanted); }
};

template <class Kernel>
void start(TestStream& stream, const ProductF32Args& args) {
    launch<Kernel>(Kernel::grid(args, 1), stream, args);
}
}  // namespace

TEST_CASE("f32 products on a GPU's threads have the law's bits in every layout", "[trainer][cuda]") {
    std::mt19937 random(21);
    for (const F32Shape s : kF32Shapes) {
        for (const Form form : {Form::kPlain, Form::kTransposedB, Form::kTransposedA}) {
            INFO(s.m << "x" << s.n << "x" << s.k << ", form " << static_cast<int>(form));
            const CardFloats a = numbers(random, std::size_t{s.m} * s.k),
                             b = numbers(random, std::size_t{s.k} * s.n);
            const CardFloats before = numbers(random, std::size_t{s.m} * s.n), bias = numbers(random, s.n);
            const bool biased = form == Form::kTransposedB;
            CardFloats wanted = before;
            law(form, s, a, b, wanted);
            if (biased) arithmetic::add_bias(bias, wanted);
            in_every_order([&](TestStream& stream) {
                CardFloats c = before;
                ProductF32Args args = arguments(form, s, a, b, c);
                if (biased) args.bias = bias.data();
                product_f32(stream, args, Mask::kNone, 1);
                REQUIRE(same(c, wanted));
            });
        }
    }
}

TEST_CASE("f32 products have the same bits in tiles of every size", "[trainer][cuda]") {
    std::mt19937 random(22);
    const F32Shape s{131, 137, 37};
    const CardFloats a = numbers(random, std::size_t{s.m} * s.k), b = numbers(random, std::size_t{s.k} * s.n);
    CardFloats wanted(std::size_t{s.m} * s.n), c = wanted;
    law(Form::kPlain, s, a, b, wanted);
    const ProductF32Args args = arguments(Form::kPlain, s, a, b, c);
    const auto check = [&](auto kernel) {
        in_every_order([&](TestStream& stream) {
            std::fill(c.begin(), c.end(), 1.0F);
            start<decltype(kernel)>(stream, args);
            REQUIRE(same(c, wanted));
        });
    };
    check(ProductF32<128, 128, 8, Mask::kNone>{});
    check(ProductF32<64, 64, 4, Mask::kNone>{});
    check(ProductF32<32, 32, 4, Mask::kNone>{});
}

TEST_CASE("infinities and NaNs come out where the law has them", "[trainer][cuda]") {
    std::mt19937 random(23);
    const F32Shape s{20, 19, 33};
    CardFloats a = numbers(random, std::size_t{s.m} * s.k), b = numbers(random, std::size_t{s.k} * s.n);
    a[40] = INFINITY;
    a[100] = -INFINITY;
    b[60] = NAN;
    CardFloats wanted(std::size_t{s.m} * s.n);
    law(Form::kPlain, s, a, b, wanted);
    in_every_order([&](TestStream& stream) {
        CardFloats c(wanted.size());
        product_f32(stream, arguments(Form::kPlain, s, a, b, c), Mask::kNone, 1);
        REQUIRE(same(c, wanted));
    });
}

TEST_CASE("a chain that stands at minus zero stays there", "[trainer][cuda]") {
    in_every_order([](TestStream& stream) {
        Tiny tiny;
        REQUIRE(std::signbit(tiny.wanted[0]));
        product_f32(stream, arguments(Form::kPlain, tiny.shape, tiny.a, tiny.b, tiny.c), Mask::kNone, 1);
        REQUIRE(same(tiny.c, tiny.wanted));
    });
}

TEST_CASE("products under the causal mask, a head of a sequence each, have the law's bits",
          "[trainer][cuda]") {
    // Two sequences of two heads that share the second operand, as queries share keys.
    std::mt19937 random(24);
    constexpr unsigned kTokens = 45, kDim = 12, kHeads = 2, kSequences = 2, kMatrices = kHeads * kSequences;
    constexpr unsigned kWidth = (kHeads + 1) * kDim;
    const CardFloats rows = numbers(random, std::size_t{kSequences} * kTokens * kWidth);
    const CardFloats squares = numbers(random, std::size_t{kMatrices} * kTokens * kTokens);
    const OperandPlace query{kWidth, 1, kTokens * kWidth, kDim, kHeads, 1};
    const OperandPlace shared{kWidth, 1, kTokens * kWidth, kDim, kHeads, kHeads};
    const OperandPlace square{kTokens, 1, kHeads * kTokens * kTokens, kTokens * kTokens, kHeads, 1};
    const auto turned = [](OperandPlace place) {
        std::swap(place.row_stride, place.col_stride);
        return place;
    };
    const float* const keys = rows.data() + kHeads * kDim;
    const arithmetic::HeadShape head{kTokens, kDim};
    CardFloats scores(squares.size(), 7.0F), up(rows.size(), 7.0F), down = up;
    for (unsigned z = 0; z < kMatrices; ++z) {
        const std::uint64_t at = query.matrix(z), from = shared.matrix(z), of = square.matrix(z);
        const auto one = std::span(squares).subspan(of, kTokens * kTokens);
        arithmetic::attention_scores(head, {rows.data() + at, kWidth}, {keys + from, kWidth},
                                     std::span(scores).subspan(of, kTokens * kTokens));
        arithmetic::attention_values(head, one, {keys + from, kWidth}, {up.data() + at, kWidth});
        arithmetic::attention_key_gradient(head, one, {rows.data() + at, kWidth}, {down.data() + at, kWidth},
                                           arithmetic::ChainStart::kZero);
    }
    in_every_order([&](TestStream& stream) {
        CardFloats c(squares.size(), 7.0F), d(rows.size(), 7.0F), e = d;
        product_f32(stream,
                    {.m = kTokens,
                     .n = kTokens,
                     .k = kDim,
                     .a = {rows.data(), query},
                     .b = {keys, turned(shared)},
                     .c = output(c),
                     .to = square,
                     .scale = arithmetic::attention_scale(kDim)},
                    Mask::kLower, kMatrices);
        REQUIRE(same(c, scores));
        product_f32(stream,
                    {.m = kTokens,
                     .n = kDim,
                     .k = kTokens,
                     .a = {squares.data(), square},
                     .b = {keys, shared},
                     .c = output(d),
                     .to = query},
                    Mask::kUpTo, kMatrices);
        REQUIRE(same(d, up));
        product_f32(stream,
                    {.m = kTokens,
                     .n = kDim,
                     .k = kTokens,
                     .a = {squares.data(), turned(square)},
                     .b = {rows.data(), query},
                     .c = output(e),
                     .to = query},
                    Mask::kFromOn, kMatrices);
        REQUIRE(same(e, down));
    });
}

#if !defined(__CUDACC__)  // a process that uses a card must not fork
// In a process of its own, which ends with the refusal.
TEST_CASE("outputs whose columns do not lie side by side are refused before the launch", "[trainer][cuda]") {
    const auto refused = [](std::uint64_t col_stride) {
        const pid_t child = ::fork();
        if (child == 0) {
            (void)::signal(SIGABRT, SIG_DFL);  // Catch's would report it
            (void)::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
            constexpr unsigned kSide = 3;
            const CardFloats a(kSide * kSide, 1.0F), b = a;
            CardFloats c(kSide * kSide * col_stride);
            ThreadPool pool(1);
            KernelStream stream(pool);
            ProductF32Args args = arguments(Form::kPlain, {kSide, kSide, kSide}, a, b, c);
            args.to = {.row_stride = kSide * col_stride, .col_stride = col_stride};
            product_f32(stream, args, Mask::kNone, 1);
            ::_exit(0);
        }
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    };
    CHECK_FALSE(refused(1));
    CHECK(refused(2));
}
#endif

TEST_CASE("mutants of the f32 product are found", "[trainer][cuda]") {
    REQUIRE(is_found([](TestStream& stream) {
        Tiny tiny;
        start<ProductF32<32, 32, 4, Mask::kNone, ProductFault::kPaddedTail>>(
            stream, arguments(Form::kPlain, tiny.shape, tiny.a, tiny.b, tiny.c));
        return same(tiny.c, tiny.wanted);
    }));
    std::mt19937 random(25);
    const F32Shape s{40, 40, 70};
    const CardFloats a = numbers(random, std::size_t{s.m} * s.k), b = numbers(random, std::size_t{s.k} * s.n);
    CardFloats wanted(std::size_t{s.m} * s.n);
    law(Form::kPlain, s, a, b, wanted);
    REQUIRE(is_found([&](TestStream& stream) {
        CardFloats c(wanted.size());
        start<ProductF32<32, 32, 4, Mask::kNone, ProductFault::kMissingBarrier>>(
            stream, arguments(Form::kPlain, s, a, b, c));
        return same(c, wanted);
    }));
}

}  // namespace assay::trainer::cuda
