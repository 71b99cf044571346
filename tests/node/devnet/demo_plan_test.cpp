// SPDX-License-Identifier: Apache-2.0
// The demo's people: one miner more than its job has slots, so that somebody's ask is the price (decision
// 87).
#include <algorithm>

#include "contracts/rules/job/auction.hpp"
#include "node/devnet/demo.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {

TEST_CASE("the demo's auction rejects one honest miner, whose ask below the cap is the price") {
    DemoOptions options;
    options.home = "/nowhere";
    const program::JobSpec spec = demo_job(options);
    const DevnetPlan plan = demo_plan(options.home, options.seed, spec);
    REQUIRE(plan.miners.size() == spec.slots + 1);
    const auto dearest =
        std::max_element(plan.miners.begin(), plan.miners.end(),
                         [](const MinerPlan& one, const MinerPlan& other) { return one.ask < other.ask; });
    CHECK(dearest->ask < spec.market.max_price);
    CHECK(dearest->behaviour == Behaviour::kHonest);
    CHECK(dearest->drills.empty());
    std::vector<contracts::Offer> offers;
    for (const MinerPlan& miner : plan.miners) offers.push_back({.miner = {}, .price = miner.ask});
    const auto cleared = contracts::clear_auction({}, spec.market.max_price, spec.slots, offers);
    CHECK(cleared.outcome.clearing_price == dearest->ask);
    CHECK(cleared.winners.size() == spec.slots);
}

}  // namespace assay::node
