// SPDX-License-Identifier: Apache-2.0
// Exact-integer products of every machine against the law, bit for bit.
#include "trainer/cpu/integer/product.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <new>
#include <thread>

#include "contracts/arithmetic/exact_product.hpp"
#include "tests/support/share.hpp"
#include "tests/trainer/cpu/integer/integer_support.hpp"
#include "trainer/host/scratch.hpp"

namespace assay::trainer::integer {
namespace {

using test::Values;

struct ProductCase {
    std::uint64_t m = 0, n = 0, k = 0;
    arithmetic::ProductRule rule;
    ChainStart start = ChainStart::kZero;
    bool with_bias = false;
    Limits limits = {};
    int layout = 0;  // bit 0: a lies by columns, bit 1: b does, bit 2: neither stride of a is 1
};

// Largest magnitudes of `lanes` lanes in each block of k, in rows that are two longer than the lanes.
struct KnownMaxima {
    enum class Of : std::uint8_t { kA, kB };
    KnownMaxima(Of side, MatrixView view, std::uint64_t lanes, std::uint64_t k, std::uint64_t block)
        : stride(lanes + 2), values((k + block - 1) / block * stride, -1) {
        for (std::uint64_t lane = 0; lane < lanes; ++lane) {
            for (std::uint64_t at = 0; at < k; ++at) {
                const std::uint64_t row = side == Of::kA ? lane : at, col = side == Of::kA ? at : lane;
                const float x = view.data[row * view.row_stride + col * view.col_stride];
                std::int32_t& most = values[at / block * stride + lane];
                most = std::max(most, std::bit_cast<std::int32_t>(x) & 0x7fffffff);
            }
        }
    }
    [[nodiscard]] LaneMaxima view() const { return {values.data(), stride}; }
    std::uint64_t stride;
    std::vector<std::int32_t> values;
};

void check(const test::Named& named, const ProductCase& x, std::mt19937& random, ThreadPool& pool) {
    INFO(named.name << ", " << x.m << "x" << x.n << "x" << x.k << ", block " << x.rule.block << ", digits "
                    << int{x.rule.a_digits} << ", layout " << x.layout << ", threads " << pool.threads());
    const std::uint64_t spread = (x.layout & 4) != 0 ? 2 : 1;
    const Values a = test::numbers(random, std::max<std::uint64_t>(1, x.m * x.k * spread));
    const Values b = test::numbers(random, std::max<std::uint64_t>(1, x.n * x.k));
    const std::uint64_t stride = x.n + random() % 3;
    Values bias = test::numbers(random, x.n);
    for (float& value : bias) value = std::fabs(value) < 1e30F ? value : 1.0F;
    Values c(x.m * stride);
    for (float& value : c) value = 0.25F * static_cast<float>(static_cast<int>(random() % 9) - 4);
    Values expected = c;
    Product p{x.m, x.n, x.k, {}, {}, c.data(), stride, x.start, x.rule};
    p.a = (x.layout & 1) == 0 ? MatrixView{a.data(), x.k * spread, spread}
                              : MatrixView{a.data(), spread, x.m * spread};
    p.b = (x.layout & 2) == 0 ? MatrixView{b.data(), x.n, 1} : MatrixView{b.data(), 1, x.k};
    p.bias = x.with_bias ? bias.data() : nullptr;
    arithmetic::exact_product({x.m, x.n, x.k}, x.rule, p.a, p.b, x.start, expected.data(), stride);
    bool finite = true;
    for (std::uint64_t i = 0; i < x.m; ++i) {
        for (std::uint64_t j = 0; j < x.n; ++j) {
            float& value = expected[i * stride + j];
            if (x.with_bias) value = value + bias[j];
            finite = finite && std::isfinite(value);
        }
    }
    const Values before = c;
    const bool said = product(*named.machine, p, pool, x.limits);
    REQUIRE(test::same(expected, c));
    REQUIRE(said == finite);
    // The same where whoever wrote the operands has found their largest magnitudes.
    const KnownMaxima of_a(KnownMaxima::Of::kA, p.a, x.m, x.k, x.rule.block),
        of_b(KnownMaxima::Of::kB, p.b, x.n, x.k, x.rule.block);
    c = before;
    p.a_maxima = of_a.view();
    REQUIRE(product(*named.machine, p, pool, x.limits) == finite);
    REQUIRE(test::same(expected, c));
    c = before;
    p.b_maxima = of_b.view();
    REQUIRE(product(*named.machine, p, pool, x.limits) == finite);
    REQUIRE(test::same(expected, c));
    // The same with b packed whole beforehand, and gone by then.
    c = before;
    const std::uint64_t bytes = packed_b_bytes(*named.machine, p);
    Scratch memory;
    std::byte* packed = memory.take(bytes + kAlignment);
    std::fill_n(packed + bytes, kAlignment, std::byte{0x5a});
    pack_b(*named.machine, p, pool, packed);
    p.packed_b = packed;
    p.b.data = nullptr;
    REQUIRE(product(*named.machine, p, pool, x.limits) == finite);
    REQUIRE(test::same(expected, c));
    REQUIRE(std::all_of(packed + bytes, packed + bytes + kAlignment,
                        [](std::byte one) { return one == std::byte{0x5a}; }));
}
}  // namespace

TEST_CASE("exact products of every machine have the bits of the law", "[integer]") {
    for (const test::Named& named : test::machines()) {
        for (const int threads : {1, 2, 3}) {
            ThreadPool pool(threads);
            std::mt19937 random(70 + static_cast<unsigned>(threads));
            for (int repeat = 0; repeat < assay::test::repeats(120); ++repeat) {
                const auto pick = [&](std::uint64_t most) { return random() % (most + 1); };
                ProductCase x;
                x.m = pick(random() % 4 == 0 ? 120 : 20);
                x.n = pick(random() % 4 == 0 ? 120 : 40);
                x.k = pick(random() % 8 == 0 ? 1500 : random() % 3 == 0 ? 300 : 70);
                const std::uint64_t blocks[] = {1, 7, 64, 100, 256, arithmetic::kMaxProductBlock};
                x.rule.block = blocks[random() % 6];
                if (x.rule.block == 1) x.k = std::min<std::uint64_t>(x.k, 60);
                // So that eight layouts by two widths are among the first few.
                x.rule.a_digits = repeat / 8 % 3 == 0 ? 3 : 2;
                x.start = random() % 2 == 0 ? ChainStart::kZero : ChainStart::kCarry;
                x.with_bias = random() % 3 == 0;
                x.layout = repeat % 8;
                check(named, x, random, pool);
            }
        }
    }
}

// What a machine keeps near is bounded: these products have more columns than that, or are deeper.
TEST_CASE("exact products of many columns, and of deep ones", "[integer]") {
    const std::array<std::uint64_t, 3> shapes[] = {
        {33, 1100, 70}, {17, 70, 16384}, {33, 50, 3100}, {100, 270, 4200}, {20, 200, 4000}};
    std::size_t number = 0;  // goes on over the machines: a sample tries other products on each
    for (const test::Named& named : test::machines()) {
        std::mt19937 random(74);
        ThreadPool pool(1);
        const auto try_it = [&](const ProductCase& x) {
            if (assay::test::is_tried(number++)) check(named, x, random, pool);
        };
        for (const std::uint8_t digits : {std::uint8_t{2}, std::uint8_t{3}}) {
            for (const auto& [m, n, k] : shapes) {
                ProductCase x{m, n, k, {digits, 2, arithmetic::kMaxProductBlock}};
                x.with_bias = true;
                try_it(x);
                x.rule.block = 1100;
                x.start = ChainStart::kCarry;
                try_it(x);
            }
        }
        // A deep block and a short one, multiplied together.
        for (const std::uint8_t digits : {std::uint8_t{2}, std::uint8_t{3}}) {
            ProductCase x{133, 270, 8192 + 700, {digits, 2, 8192}};
            x.limits.depth = 16384;
            try_it(x);
        }
    }
}

TEST_CASE("exact products take their scales from largest magnitudes that they are given", "[integer]") {
    ThreadPool pool(1);
    for (const test::Named& named : test::machines()) {
        INFO(named.name);
        // 1/3 has other integers by the scale of 1/3 than by that of 1,000.
        const Values a(4, 1.0F / 3.0F), b(4, 1.0F);
        for (const bool of_a : {true, false}) {
            Values known(1), guessed(1);
            const MatrixView row{a.data(), 4, 1}, column{b.data(), 1, 1};
            Product p{1, 1, 4, row, column, known.data(), 1};
            if (!of_a) std::swap(p.a.data, p.b.data);
            REQUIRE(product(*named.machine, p, pool));
            const auto larger = std::bit_cast<std::int32_t>(1000.0F);
            (of_a ? p.a_maxima : p.b_maxima) = {&larger, 1};
            p.c = guessed.data();
            REQUIRE(product(*named.machine, p, pool));
            CHECK_FALSE(test::same(known, guessed));
        }
    }
}

TEST_CASE("exact products of empty and of single operands", "[integer]") {
    ThreadPool pool(2);
    std::mt19937 random(72);
    for (const test::Named& named : test::machines()) {
        for (const std::uint64_t m : {0U, 1U, 3U}) {
            for (const std::uint64_t n : {0U, 1U, 2U}) {
                for (const std::uint64_t k : {0U, 1U, 2U, 64U, 65U}) {
                    for (const ChainStart start : {ChainStart::kZero, ChainStart::kCarry}) {
                        check(named, {m, n, k, {}, start, (m + n + k) % 2 == 0, {}, static_cast<int>(k % 4)},
                              random, pool);
                    }
                }
            }
        }
    }
}

TEST_CASE("exact products in slabs of either operand", "[integer]") {
    ThreadPool one(1), two(2);
    std::mt19937 random(74);
    for (const test::Named& named : test::machines()) {
        for (int repeat = 0; repeat < 16; ++repeat) {
            if (!assay::test::is_tried(static_cast<std::size_t>(repeat))) continue;
            // The least that may be packed at a time: on one thread every operand larger than a group comes
            // in slabs, on two there are more groups in one of them.
            ThreadPool& pool = repeat < 8 ? one : two;
            ProductCase x{100 + random() % 200,
                          100 + random() % 200,
                          30 + random() % 300,
                          {},
                          {},
                          true,
                          {1, 1, 100},
                          0};
            x.rule = {static_cast<std::uint8_t>(2 + repeat % 2), 2, repeat % 4 < 2 ? 64U : 16384U};
            x.layout = repeat % 4;
            x.start = repeat % 3 == 0 ? ChainStart::kCarry : ChainStart::kZero;
            if (repeat % 2 == 0) x.limits.resident_bytes = 1U << 20U;
            check(named, x, random, pool);
        }
    }
}

TEST_CASE("exact products whose a is more than a slab of the limits that are used", "[integer]") {
    ThreadPool one(1), two(2);
    std::mt19937 random(75);
    for (const test::Named& named : test::machines()) {
        if (!assay::test::is_sample()) {
            check(named, {100, 10, 16384 + 60, {3, 2}, ChainStart::kCarry, true}, random, one);
        }
        check(named, {400, 10, 8192 + 60, {3, 2}, ChainStart::kCarry, true}, random, two);
    }
}

TEST_CASE("an exact product takes the scratch memory that was said, on any number of threads", "[integer]") {
    // Deep enough that the slabs of a grow with the threads.
    constexpr std::uint64_t kRows = 1600, kColumns = 10, kTerms = 4096;
    std::mt19937 random(76);
    const Values a = test::numbers(random, kRows * kTerms), b = test::numbers(random, kTerms * kColumns);
    Values c(kRows * kColumns);
    Product p{kRows, kColumns, kTerms, {a.data(), kTerms, 1}, {b.data(), kColumns, 1}, c.data(), kColumns};
    p.rule.a_digits = 3;
    const Machine& machine = *test::machines().back().machine;
    std::uint64_t before = 0;
    for (const int threads : {1, 2, 8}) {
        const std::uint64_t said =
            Scratch::size_for(product_scratch_bytes(machine, p, static_cast<std::uint64_t>(threads)));
        INFO(threads << " threads");
        CHECK(said > before);
        before = said;
        std::uint64_t taken = 0;
        std::thread([&] {  // a thread that holds nothing yet
            const std::uint64_t held = scratch_use().bytes;
            ThreadPool pool(threads);
            static_cast<void>(product(machine, p, pool));
            taken = scratch_use().bytes - held;
        })
            .join();
        CHECK(taken == said);
    }
}

TEST_CASE("operands that are not finite: every machine says so, and ends", "[integer]") {
    ThreadPool pool(1);
    for (const test::Named& named : test::machines()) {
        for (const float bad :
             {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
            for (const std::uint8_t digits : {std::uint8_t{2}, std::uint8_t{3}}) {
                for (unsigned layout = 0; layout < 4; ++layout) {
                    constexpr std::uint64_t kLanes = 20, kDepth = 130;
                    INFO(named.name << ", " << bad << ", digits " << int{digits} << ", layout " << layout);
                    Values a(kLanes * kDepth, -0x1p-125F), b(kLanes * kDepth, 1.0F), c(kLanes * kLanes);
                    a[7] = bad;
                    Product p{kLanes,
                              kLanes,
                              kDepth,
                              {a.data(), kDepth, 1},
                              {b.data(), 1, kDepth},
                              c.data(),
                              kLanes,
                              ChainStart::kZero,
                              {digits, 2}};
                    if ((layout & 1U) != 0) p.a = {a.data(), 1, kLanes};
                    if ((layout & 2U) != 0) p.b = {b.data(), kLanes, 1};
                    const bool said = product(*named.machine, p, pool);
                    CHECK(said == std::ranges::all_of(c, [](float x) { return std::isfinite(x); }));
                }
            }
        }
    }
}

TEST_CASE("scratch memory stays within the limits and says how much it is", "[integer]") {
    for (const test::Named& named : test::machines()) {
        Product p{4096, 50257, 16384, {}, {}, nullptr, 50257};
        p.rule.a_digits = 3;
        const Limits limits;
        const std::uint64_t least =
            kGroup * 16384 * 13 / 2;  // a group of lanes of the deepest block, widest operand, panels apart
        for (const std::uint64_t threads : {1U, 2U, 8U}) {
            const std::uint64_t regions = threads * named.machine->region_bytes;
            CHECK(product_scratch_bytes(*named.machine, p, threads) <=
                  regions + limits.resident_bytes + limits.streamed_bytes + 2 * least * threads);
            CHECK(product_scratch_bytes(*named.machine, p, threads, PackedB::kYes) <=
                  regions + limits.streamed_bytes + least * threads);
        }
        CHECK(packed_b_bytes(*named.machine, p) >= 2 * p.n * p.k);  // two digits of every number
        CHECK(packed_b_bytes(*named.machine, p) % kAlignment == 0);
        p.m = p.n = p.k = 64;
        CHECK(product_scratch_bytes(*named.machine, p, 8) < named.machine->region_bytes + 128 * 1024);
        p.k = 0;
        CHECK(product_scratch_bytes(*named.machine, p, 8) == 0);
        CHECK(packed_b_bytes(*named.machine, p) == 0);
    }
}

TEST_CASE("with b packed, fewer rows take no more scratch memory than more rows do", "[integer]") {
    // A plan is made for the most rows; the last micro-batch of a step, and an evaluation's, may have fewer.
    constexpr std::uint64_t kMost = 4096;
    const std::pair<std::uint64_t, std::uint64_t> shapes[] = {
        {50257, 768}, {768, 768}, {768, 3072}, {768, 16384}, {768, 50257}};
    for (const test::Named& named : test::machines()) {
        for (const auto& [n, k] : shapes) {
            for (const std::uint8_t digits : {std::uint8_t{2}, std::uint8_t{3}}) {
                const std::uint64_t threads = digits == 2 ? 1 : 2;
                INFO(named.name << ", n " << n << ", k " << k << ", digits " << int{digits});
                REQUIRE(2 * kMost * k > Limits{}.streamed_bytes);  // a does not fit a slab
                Product p{0, n, k, {}, {}, nullptr, n};
                p.rule.a_digits = digits;
                std::uint64_t most = 0, rows = 0;
                for (p.m = 1; p.m <= kMost && rows == 0; ++p.m) {
                    const std::uint64_t bytes =
                        product_scratch_bytes(*named.machine, p, threads, PackedB::kYes);
                    if (bytes < most) rows = p.m;
                    most = bytes;
                }
                CHECK(rows == 0);  // else the first that take less than one row fewer
            }
        }
    }
}

// A sanitizer's allocator ends the program where the system's says no.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("scratch memory that is not to be had is an exception, and the next one works", "[integer]") {
    constexpr std::uint64_t kTooMuch = 1ULL << 60U;
    const std::uint64_t before = scratch_use().bytes;
    Scratch scratch;
    CHECK(scratch.take(5000) != nullptr);
    CHECK(scratch_use().bytes == before + Scratch::size_for(5000));
    CHECK_THROWS_AS(scratch.take(kTooMuch), std::bad_alloc);
    CHECK(scratch_use().bytes == before);
    CHECK(scratch.take(1) != nullptr);
    CHECK_FALSE(prepare_attention_scratch(kTooMuch));
    CHECK(prepare_attention_scratch(1));
}
#endif
}  // namespace assay::trainer::integer
