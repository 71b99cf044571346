// SPDX-License-Identifier: Apache-2.0
// The simulator: every strategy at the rate of its law, honest parties without a loss, and the same bits
// from the same seed.
#include "node/sim/measure.hpp"

#include <cmath>

#include "node/sim/statistics.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::sim {
namespace {

/// Trials of a row inside the test suite, or the next whole job; `make sim` tries each 10,000 times.
constexpr std::uint64_t kRounds = 200;
/// Trials of a cheat whose law leaves it no chance: one that gets away is enough to fail.
constexpr std::uint64_t kCertainRounds = 32;

SimRow row_of(const CheatRow& strategy, std::uint64_t rounds, std::uint64_t seed = 1) {
    const auto row = measure(strategy, {.rounds = rounds, .seed = seed});
    INFO(strategy.name << ": " << (row.ok() ? std::string() : row.error().what));
    REQUIRE(row.ok());
    return *row;
}

std::uint64_t rounds_of(const CheatRow& strategy) {
    const bool is_certain = predicted_rate(strategy, false) >= 1 && predicted_rate(strategy, true) >= 1;
    return is_certain ? kCertainRounds : kRounds;
}

/// Whether a rate that was measured so is likely under the law: within four standard deviations, so that a
/// sound simulator fails on none of some thirty rows.
bool is_likely(const SimRow& row) {
    const double trials = static_cast<double>(row.rounds);
    const double deviation = std::sqrt(row.predicted * (1 - row.predicted) / trials);
    return std::abs(row.measured - row.predicted) <= 4 * deviation + 1e-9;
}

}  // namespace

TEST_CASE("every strategy is caught at the rate of its law, and does not pay") {
    for (const CheatRow& strategy : strategies()) {
        if (strategy.law == CatchLaw::kNever) continue;
        const SimRow row = row_of(strategy, rounds_of(strategy));
        INFO(row.strategy << ": predicted " << row.predicted << ", measured " << row.measured << " of "
                          << row.rounds << ", profits " << row.profit_one << " and " << row.profit_third);
        CHECK(row.rounds >= rounds_of(strategy));
        CHECK(is_likely(row));
        CHECK(row.honest_forfeits == 0);
        // The ledger takes no trap, so that it neither earns nor costs anything.
        const bool refused = strategy.name == "trap-job";
        CHECK((refused ? row.profit_one == 0 : row.profit_one < 0));
        CHECK((refused ? row.profit_third == 0 : row.profit_third < 0));
    }
}

TEST_CASE("where nobody cheats nobody loses anything, and work is paid") {
    const SimRow row = row_of(*find_strategy("honest"), kRounds);
    CHECK(row.honest_forfeits == 0);
    CHECK(row.measured == 0);
    CHECK(row.profit_one == Approx(0.1).margin(1e-6));
}

TEST_CASE("a cheat that nobody can catch is found by the same measure") {
    // It is honest, and its law says otherwise.
    CheatRow harmless = *find_strategy("lazy");
    harmless.behaviour = {};
    const SimRow row = row_of(harmless, 30);
    CHECK_FALSE(is_likely(row));
    CHECK(row.profit_one > 0);
}

TEST_CASE("one seed gives one row, another seed another") {
    const auto same = [](const SimRow& a, const SimRow& b) {
        return a.rounds == b.rounds && a.measured == b.measured && a.profit_one == b.profit_one &&
               a.profit_third == b.profit_third;
    };
    const CheatRow& strategy = *find_strategy("late-cheat");
    const SimRow first = row_of(strategy, 32, 5);
    CHECK(same(first, row_of(strategy, 32, 5)));
    bool differs = false;
    for (std::uint64_t seed = 6; seed < 9; ++seed)
        differs = differs || !same(first, row_of(strategy, 32, seed));
    CHECK(differs);
}

TEST_CASE("Wilson's interval holds what was measured") {
    CHECK(wilson(0, 0).low == 0);
    CHECK(wilson(0, 0).high == 1);
    CHECK(wilson(5, 10).low == Approx(0.2366).margin(1e-4));
    CHECK(wilson(5, 10).high == Approx(0.7634).margin(1e-4));
    CHECK(wilson(0, 100).low == Approx(0).margin(1e-12));
    CHECK(wilson(0, 100).high == Approx(0.0370).margin(1e-4));
    CHECK(wilson(100, 100).high == Approx(1).margin(1e-12));
}

}  // namespace assay::node::sim
