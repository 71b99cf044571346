// SPDX-License-Identifier: Apache-2.0
// The guard of integer products: it finds what a faulty multiplier does, and never accuses a sound one.
#include "trainer/cpu/integer/guard.hpp"

#include <array>
#include <limits>

#include "contracts/arithmetic/exact_product.hpp"
#include "tests/support/properties.hpp"
#include "tests/support/share.hpp"
#include "tests/trainer/cpu/integer/faulty_machine.hpp"
#include "tests/trainer/cpu/integer/integer_support.hpp"
#include "trainer/cpu/integer/product.hpp"

namespace assay::trainer::integer {
namespace {

using assay::tests::any_word;
using assay::tests::between;
using assay::tests::check_property;
using test::Values;

struct GuardedProduct {
    std::uint64_t m = 0, n = 0, k = 0;
    arithmetic::ProductRule rule;
    bool columns = false;  // both operands lie by columns
};

// The product with its operands; it borrows from itself.
struct Operands {
    Operands(const GuardedProduct& x, std::mt19937& random)
        : a(test::numbers(random, std::max<std::uint64_t>(1, x.m * x.k))),
          b(test::numbers(random, std::max<std::uint64_t>(1, x.n * x.k))),
          c(std::max<std::uint64_t>(1, x.m * x.n)) {
        p = {x.m, x.n, x.k, {}, {}, c.data(), x.n, ChainStart::kZero, x.rule};
        p.a = x.columns ? MatrixView{a.data(), 1, x.m} : MatrixView{a.data(), x.k, 1};
        p.b = x.columns ? MatrixView{b.data(), 1, x.k} : MatrixView{b.data(), x.n, 1};
    }
    Operands(const Operands&) = delete;
    Operands& operator=(const Operands&) = delete;
    Values a, b, c;
    Product p;
};

// Of the guard's many products an emulator, which multiplies slowly, tries a share of its share.
int products(int all) { return assay::test::repeats(assay::test::repeats(all)); }

// Sizes around the edges of tiles, panels, groups and units as well as any.
std::uint64_t edge(std::uint64_t most) {
    const std::uint64_t at[] = {1, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
    const std::uint64_t near = at[*between<std::size_t>(0, 13)] + *between<std::uint64_t>(0, 2);
    const std::uint64_t any = *between<std::uint64_t>(1, most);
    return std::min(most, *between(0, 2) == 0 ? any : std::max<std::uint64_t>(1, near - 1));
}

GuardedProduct draw() {
    GuardedProduct x{edge(130), edge(130), edge(270), {}, *between(0, 1) == 1};
    const std::uint64_t blocks[] = {1, 7, 64, 100, 256, arithmetic::kMaxProductBlock};
    x.rule.block = blocks[*between<std::size_t>(0, 5)];
    if (x.rule.block == 1) x.k = std::min<std::uint64_t>(x.k, 40);
    x.rule.a_digits = static_cast<std::uint8_t>(*between(2, 3));
    return x;
}
}  // namespace

TEST_CASE("the guard accuses no sound machine, at any edge of its shapes", "[integer]") {
    const auto machines = test::machines();
    ThreadPool one(1), three(3);
    std::uint64_t judged = 0;
    check_property(products(10'000), [&] {
        const GuardedProduct x = draw();
        std::mt19937 random(static_cast<std::uint32_t>(*any_word()));
        Operands operands(x, random);
        ProductGuard guard(0, *any_word());
        operands.p.guard = &guard;
        const auto& named = machines[*between<std::size_t>(0, machines.size() - 1)];
        // Least slabs in some, so that the judged region is in any of several.
        const Limits limits = *between(0, 3) == 0 ? Limits{1, 1, 100} : Limits{};
        (void)product(*named.machine, operands.p, *between(0, 3) == 0 ? three : one, limits);
        RC_ASSERT(guard.checked() == 1U);
        RC_ASSERT(guard.wrong() == 0U);
        judged += guard.checked();
    });
    CHECK(judged >= static_cast<std::uint64_t>(products(10'000)));
}

TEST_CASE("the guard accuses no sound machine of products that are wide or deep", "[integer]") {
    ThreadPool one(1);
    std::uint64_t seed = 0;
    for (const test::Named& named : test::machines()) {
        for (const auto& [m, n, k] : {std::array<std::uint64_t, 3>{100, 1100, 70}, {100, 270, 4200}}) {
            for (const std::uint8_t digits : {std::uint8_t{2}, std::uint8_t{3}}) {
                std::mt19937 random(75);
                for (int repeat = 0; repeat < products(12); ++repeat) {
                    const GuardedProduct x{m, n, k, {digits, 2}, false};
                    Operands operands(x, random);
                    ProductGuard guard(0, ++seed);
                    operands.p.guard = &guard;
                    (void)product(*named.machine, operands.p, one);
                    REQUIRE(guard.checked() == 1U);
                    REQUIRE(guard.wrong() == 0U);
                }
            }
        }
    }
}

TEST_CASE("the guard finds one bit that a multiplier turns over, wherever it is", "[integer]") {
    ThreadPool pool(1);
    check_property(assay::test::repeats(2'000), [&] {
        // One region and whole tiles: every sum of the product is judged, and each is an output's.
        GuardedProduct x{4 * *between<std::uint64_t>(1, 24),
                         8 * *between<std::uint64_t>(1, 12),
                         *between<std::uint64_t>(1, 200),
                         {},
                         *between(0, 1) == 1};
        x.rule.a_digits = static_cast<std::uint8_t>(*between(2, 3));
        std::mt19937 random(static_cast<std::uint32_t>(*any_word()));
        Operands operands(x, random);
        ProductGuard guard(0, *any_word());
        operands.p.guard = &guard;
        test::fault() = {};
        (void)product(test::faulty_machine(), operands.p, pool);
        RC_ASSERT(guard.wrong() == 0U);
        const std::uint64_t calls = test::fault().calls;
        test::fault() = {0, *any_word() % calls, *any_word(), *between<std::uint32_t>(0, 31)};
        (void)product(test::faulty_machine(), operands.p, pool);
        RC_ASSERT(guard.wrong() == 1U);
    });
    test::fault() = {};
}

TEST_CASE("the guard judges no operands that are not finite", "[integer]") {
    ThreadPool pool(1);
    std::mt19937 random(9);
    const GuardedProduct x{8, 8, 20, {}, false};
    for (const float bad :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        for (const bool in_a : {true, false}) {
            Operands operands(x, random);
            (in_a ? operands.a : operands.b)[7] = bad;
            ProductGuard guard(0, 1);
            operands.p.guard = &guard;
            (void)product(plain_machine(), operands.p, pool);
            CHECK(guard.wrong() == 0);
        }
    }
}

TEST_CASE("the guard checks the first product, and then while checks take less than their part",
          "[integer]") {
    ThreadPool pool(1);
    std::mt19937 random(10);
    Operands operands({64, 64, 64, {}, false}, random);
    ProductGuard guard(1'000'000'000, 1);
    operands.p.guard = &guard;
    for (int i = 0; i < 20; ++i) (void)product(plain_machine(), operands.p, pool);
    CHECK(guard.checked() == 1);
    ProductGuard every(0, 1);
    operands.p.guard = &every;
    for (int i = 0; i < 20; ++i) (void)product(plain_machine(), operands.p, pool);
    CHECK(every.checked() == 20);
    CHECK(every.wrong() == 0);
}

}  // namespace assay::trainer::integer
