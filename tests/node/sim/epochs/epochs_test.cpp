// SPDX-License-Identifier: Apache-2.0
// The simulated market between jobs: every scenario is played on the real rules, and gives the same again.
#include "node/sim/epochs/full_epoch.hpp"
#include "node/sim/epochs/world.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::sim {

namespace {

constexpr MarketSize kSmall{.miners = 120, .jobs = 20, .epochs = 6};

EpochsRow play(std::string_view scenario, std::uint64_t seed = 3) {
    auto row = play_market(*find_market_scenario(scenario), kSmall, seed);
    if (!row.ok()) FAIL(row.error().what);
    return std::move(row).value();
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
        // A lot and a bid are sealed and opened by two transactions each.
        CHECK(row.transactions > std::uint64_t{2} * kSmall.miners * 3);
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
    CHECK(play("withholding").gain < 0);
    CHECK(play("spot-and-run").gain < 0);
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
