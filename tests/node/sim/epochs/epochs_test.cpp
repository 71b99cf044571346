// SPDX-License-Identifier: Apache-2.0
// The simulated market between jobs: every scenario is played on the real rules, and gives the same again.
#include "node/sim/epochs/full_epoch.hpp"
#include "node/sim/epochs/world.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::sim {

namespace {

constexpr MarketSize kSmall{.miners = 120, .jobs = 20, .epochs = 6};

EpochsRow play(std::string_view scenario, std::uint64_t seed = 3, const MarketSize& size = kSmall) {
    auto row = play_market(*find_market_scenario(scenario), size, seed);
    if (!row.ok()) FAIL(row.error().what);
    return std::move(row).value();
}

struct Totals {
    std::uint64_t offered = 0, sold = 0;
};

Totals totals_of(const EpochsRow& row) {
    Totals totals;
    for (const EpochFigures& epoch : row.course) {
        totals.offered += epoch.offered;
        totals.sold += epoch.sold;
    }
    return totals;
}

}  // namespace

TEST_CASE("every scenario of the market is played, and no invariant breaks") {
    for (const MarketScenario& scenario : market_scenarios()) {
        CAPTURE(std::string(scenario.name));
        const EpochsRow row = play(scenario.name);
        CHECK(row.welfare_ratio > 0);
        CHECK(row.welfare_ratio <= 1);
        CHECK(row.jain > 0);
        CHECK(row.jain <= 1);
        CHECK(row.course.size() == kSmall.epochs);
        const Totals totals = totals_of(row);
        CHECK(totals.sold > 0);
        CHECK(totals.sold <= totals.offered);
        // Nine tenths of the machines are there at the least where nobody holds any back, or breaks off.
        const bool all_offer =
            scenario.play != MarketPlay::kWithholding && scenario.play != MarketPlay::kSpotAndRun;
        CHECK(totals.offered * 100 >= std::uint64_t{kSmall.miners} * kSmall.epochs * (all_offer ? 90 : 60));
        // Each machine is registered by three transactions, and each lot that stands is sealed and opened. A
        // tenant has two of its own; a job comes, goes, and in an epoch bids by two, or leases by one.
        const std::uint64_t machines = 3 * kSmall.miners + 2 * totals.offered;
        CHECK(row.transactions > machines);
        if (scenario.play == MarketPlay::kTruthful)
            CHECK(row.transactions <= machines + kSmall.jobs * (2 + 2 + 3 * kSmall.epochs));
        // Of so few jobs no two of a ring may want the same class, and then all of it bids.
        if (scenario.play != MarketPlay::kRing)
            CHECK((scenario.play == MarketPlay::kTruthful) == (row.gain == 0));
    }
}

TEST_CASE("a market of the same seed comes to the same, and one of another to something else") {
    const EpochsRow first = play("truthful");
    const EpochsRow again = play("truthful");
    CHECK(first.revenue == again.revenue);
    CHECK(first.welfare_ratio == again.welfare_ratio);
    CHECK(first.transactions == again.transactions);
    CHECK(first.revenue != play("truthful", 4).revenue);
}

TEST_CASE("who withholds machines, or does not open what it sealed, earns less than honest people") {
    // Where each class has more than a handful of lots: of a thin one, chance decides.
    constexpr MarketSize kThick{.miners = 480, .jobs = 60, .epochs = 6};
    CHECK(play("withholding", 3, kThick).gain < 0);
    CHECK(play("spot-and-run", 3, kThick).gain < 0);
}

TEST_CASE("an epoch in which everybody bids sells what the clearing of its classes alone sells") {
    const FullEpochPlan plan{.classes = 3, .size = {12, 40}, .family = MarketFamily::kGangs, .first_seed = 5};
    const auto epoch = measure_full_epoch(plan);
    if (!epoch.ok()) FAIL(epoch.error().what);
    // Lots and bids, sealed and opened.
    CHECK(epoch->transactions == std::uint64_t{3} * 2 * (12 + 40));
    std::size_t sold = 0;
    for (std::uint64_t place = 0; place < plan.classes; ++place)
        sold += contracts::clear_class(random_class(plan.family, plan.size, plan.first_seed + place))
                    .matches.size();
    CHECK(sold > 0);
    CHECK(epoch->leased == sold);
    CHECK(epoch->clearing_ms > 0);
    CHECK(epoch->epoch_ms > epoch->clearing_ms);
}

}  // namespace assay::node::sim
