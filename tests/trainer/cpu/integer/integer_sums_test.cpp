// SPDX-License-Identifier: Apache-2.0
// Integer sums of every machine where they just fit its registers and where they do not, and work that is
// left out.
#include <random>
#include <utility>

#include "contracts/arithmetic/exact_product.hpp"
#include "tests/support/share.hpp"
#include "tests/trainer/cpu/integer/faulty_machine.hpp"
#include "tests/trainer/cpu/integer/integer_support.hpp"
#include "trainer/cpu/integer/product.hpp"

namespace assay::trainer::integer {

using test::Values;

TEST_CASE("sums at the edge of their bounds", "[integer]") {
    ThreadPool pool(1);
    // Digits of 32,639: 127, 127. Of 32,384: 127, −128, which makes the rests of the modular sum largest;
    // with their signs changed −127, −127 and −126, −128 (−32,384 + 128 is 126 · 256). 24 bits likewise, and
    // 2,039 and −2,048 where they are cut into 12 and 12.
    const float narrow[] = {32639.0F, 32384.0F, -32639.0F, -32384.0F};
    const float wide[] = {8355711.0F, 8355456.0F, 8349696.0F, -8355711.0F, -8355456.0F, -8349696.0F};
    for (const test::Named& named : test::machines()) {
        std::size_t number = 0;
        for (const std::uint64_t k : {255U, 256U, 257U, 512U, 1024U, 1025U, 16384U, 16385U, 16384U + 300U}) {
            for (const float b_value : narrow) {
                ++number;
                for (int which = 0; which < 10; ++which) {
                    // Sampled along diagonals: every k, b and a.
                    if (!assay::test::is_tried(number + static_cast<std::size_t>(which))) continue;
                    const float a_value = which < 4 ? narrow[which] : wide[which - 4];
                    INFO(named.name << ", k " << k << ", " << a_value << " times " << b_value);
                    // One odd number, so that a sum that is off by a rounding shows.
                    Values a(k, a_value), b(k, b_value), c(1), expected(1);
                    a[k / 2] = 1.0F;
                    const std::uint8_t digits = which < 4 ? 2 : 3;
                    Product p{
                        1,          1, k, {a.data(), k, 1}, {b.data(), 1, 1}, c.data(), 1, ChainStart::kZero,
                        {digits, 2}};
                    arithmetic::exact_product({1, 1, k}, p.rule, p.a, p.b, p.start, expected.data(), 1);
                    REQUIRE(product(*named.machine, p, pool));
                    REQUIRE(test::same(expected, c));
                }
            }
        }
    }
}

namespace {
// Rows of a times columns of b, k numbers each, of 16 bits or, on side A, 24, which keep their values in
// packing. layout: bit 0: a's rows lie side by side; bit 1: b's columns do.
void require_sums(const test::Named& named, std::uint64_t k, const Values& a, const Values& b,
                  std::uint8_t digits, unsigned layout = 0) {
    static ThreadPool one(1), three(3);
    const std::uint64_t m = a.size() / k, n = b.size() / k;
    const auto turned = [k](const Values& lanes) {
        Values out(lanes.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i % k * (out.size() / k) + i / k] = lanes[i];
        return out;
    };
    const Values a_turned = turned(a), b_turned = turned(b);
    const MatrixView of_a =
        (layout & 1U) == 0 ? MatrixView{a.data(), k, 1} : MatrixView{a_turned.data(), 1, m};
    const MatrixView of_b =
        (layout & 2U) == 0 ? MatrixView{b.data(), 1, k} : MatrixView{b_turned.data(), n, 1};
    Values c(m * n), expected(m * n);
    const Product p{m, n, k, of_a, of_b, c.data(), n, ChainStart::kZero, {digits, 2}};
    arithmetic::exact_product({m, n, k}, p.rule, p.a, p.b, p.start, expected.data(), n);
    REQUIRE(product(*named.machine, p, (layout & 4U) == 0 ? one : three));
    REQUIRE(test::same(expected, c));
}
}  // namespace

// tile_runs-inl.hpp: a run of eight k may be added at once, in halves, or a pair at a time.
TEST_CASE("runs whose sums just fit, and just do not", "[integer]") {
    // Eight products of 16,384 are 2^31, four of 23,170 or two of 32,768 nearly.
    const float sizes[] = {16320.0F, 16376.0F, 16383.0F, 16384.0F, 16400.0F,
                           23160.0F, 23170.0F, 23180.0F, 32639.0F};
    for (const test::Named& named : test::machines()) {
        for (const float x : sizes) {
            for (const float y : sizes) {
                for (const float sign : {1.0F, -1.0F}) {
                    INFO(named.name << ", " << x << " times " << sign * y);
                    Values a(320, x), b(320, sign * y);
                    a[7] = 1.0F;  // odd: no rounding hides a bit
                    require_sums(named, 320, a, b, 2);
                }
            }
        }
    }
}

TEST_CASE("a run that fits alone, but not after what the run before has left", "[integer]") {
    for (const test::Named& named : test::machines()) {
        INFO(named.name);
        // Each run has 16,383 once, so that its sum is 2^31 − 32,767. The first leaves 32,769.
        Values a(320, 16384.0F);
        for (std::size_t k = 0; k < a.size(); ++k) {
            if (k % 64 < 16 && k % 2 == 0) a[k] = 16383.0F;
        }
        require_sums(named, 320, a, a, 2);
    }
}

TEST_CASE("one large run among small ones, in whatever row and column it is", "[integer]") {
    constexpr std::uint64_t kRows = 13, kCols = 35, kDepth = 300;  // more than a tile, and no multiple
    for (const test::Named& named : test::machines()) {
        std::mt19937 random(7);
        std::uniform_int_distribution<int> small(-300, 300);
        // The pairs of a run are eight pairs apart: t, t + 8, t + 16 and t + 24 of 32.
        for (std::size_t pair = 0; pair < kDepth / 2; ++pair) {
            for (const std::size_t count : {1U, 2U, 4U}) {
                for (const std::size_t apart : {8U, 16U}) {
                    if (!assay::test::is_tried(pair + count + apart)) continue;
                    INFO(named.name << ", pair " << pair << ", " << count << " pairs, " << apart << " apart");
                    Values a(kRows * kDepth), b(kCols * kDepth);
                    for (float& x : a) x = static_cast<float>(small(random));
                    for (float& x : b) x = static_cast<float>(small(random));
                    for (std::size_t n = 0; n < count; ++n) {
                        const std::size_t at = pair / 32 * 32 + (pair + n * apart) % 32;
                        for (const std::size_t k : {2 * at, 2 * at + 1}) {
                            if (k >= kDepth) continue;
                            a[pair % kRows * kDepth + k] = 32639.0F;
                            b[pair % kCols * kDepth + k] = -32639.0F;
                        }
                    }
                    require_sums(named, kDepth, a, b, 2, static_cast<unsigned>(pair % 8));
                }
            }
        }
    }
}

// tile_wide-inl.hpp: v = 4,096 · upper + lower, and runs of 32 k whose upper numbers are all zero.
TEST_CASE("24-bit operands most of whose numbers are small", "[integer]") {
    constexpr std::uint64_t kRows = 13, kDepth = 320;
    unsigned number = 0;
    for (const test::Named& named : test::machines()) {
        for (const float lower : {2047.0F, -2048.0F, 2048.0F, -2049.0F, 3.0F}) {
            for (const float b_value : {32639.0F, -32639.0F}) {
                for (const std::size_t large : {0U, 31U, 32U, 95U, 319U}) {
                    INFO(named.name << ", " << lower << " times " << b_value << ", large at " << large);
                    Values a(kRows * kDepth, lower), b(kDepth, b_value);
                    for (std::size_t row = 0; row < kRows; ++row) {
                        a[row * kDepth + (large + 50 * row) % kDepth] = 8355711.0F;
                        a[row * kDepth + (large + 50 * row + 64) % kDepth] = 1.0F;
                    }
                    require_sums(named, kDepth, a, b, 3, number++ % 8);
                }
            }
        }
    }
}

TEST_CASE("upper bits move once in a run that fits, twice where its halves do, else after every pair",
          "[integer]") {
    const Machine& machine = test::faulty_machine();
    const std::uint64_t m = machine.a_rows, n = machine.b_cols;
    const auto moves = [&](const Values& a, const Values& b) {
        test::fault() = {};
        require_sums({"faulty", &machine}, 64, a, b, 2);
        return test::fault().moves * 4 / (m * n);  // of a sum; a vector has 4
    };
    Values small(m * 64, 100.0F), other(n * 64, 100.0F);
    for (std::uint64_t row = 0; row < m; ++row) small[row * 64] = 32639.0F;
    for (std::uint64_t column = 0; column < n; ++column) other[column * 64 + 63] = 32639.0F;
    CHECK(moves(small, other) == 8);
    CHECK(moves(Values(m * 64, 16384.0F), Values(n * 64, 16384.0F)) == 16);
    CHECK(moves(Values(m * 64, 32639.0F), Values(n * 64, 32639.0F)) == 32);
}

TEST_CASE("upper numbers of 24 bits are multiplied only in runs that have some", "[integer]") {
    const Machine& machine = test::faulty_machine();
    const std::uint64_t m = machine.a_rows, n = machine.b_cols,
                        lower = m * n / 4 * 32;  // of pairs, over 64 k
    const auto calls = [&](const Values& a) {
        test::fault() = {};
        require_sums({"faulty", &machine}, 64, a, Values(n * 64, 32639.0F), 3);
        return test::fault().calls;
    };
    CHECK(calls(Values(m * 64, 8355711.0F)) == 2 * lower);
    Values a(m * 64, 2047.0F);
    for (std::uint64_t row = 0; row < m; ++row) a[row * 64] = 8355711.0F;
    CHECK(calls(a) == lower + lower / 2);  // in the first of two runs
}

}  // namespace assay::trainer::integer
