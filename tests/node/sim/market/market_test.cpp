// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "node/sim/market/optimum.hpp"
#include "node/sim/market/study.hpp"
#include "node/sim/market/trade_reduction.hpp"
#include "tests/contracts/rules/market_reference.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::sim::test {

namespace {

using contracts::Amount;
using contracts::ClassMarket;

ClassMarket market_of(const std::vector<std::uint64_t>& bids, const std::vector<std::uint64_t>& asks,
                      std::uint32_t lots = 1) {
    ClassMarket market;
    for (const std::uint64_t price : bids) {
        market.bids.push_back({{}, lots, Amount::of(price).value(), 0});
        market.bids.back().job.bytes[0] = static_cast<std::uint8_t>(market.bids.size());
    }
    for (const std::uint64_t price : asks) {
        market.asks.push_back({{}, Amount::of(price).value()});
        market.asks.back().node.bytes[0] = static_cast<std::uint8_t>(market.asks.size());
    }
    return market;
}

}  // namespace

TEST_CASE("the best that a class allows is that of trying every set of its bids") {
    contracts::test::MarketNumbers numbers(3);
    for (int n = 0; n < 1000; ++n) {
        const ClassMarket market =
            contracts::test::small_market(numbers, contracts::test::some_shape(numbers));
        const contracts::test::Optimum expected = contracts::test::optimum_of(market);
        REQUIRE(best_worth(market, Allowed::kAny) == expected.any);
        REQUIRE(best_worth(market, Allowed::kPaying) == expected.paying);
        const contracts::ClassOutcome outcome = contracts::clear_class(market);
        REQUIRE(worth_sold(market, outcome) == contracts::test::worth_of(market, outcome));
    }
}

TEST_CASE("McAfee's price is between the first on either side left out, where all that trade bear it") {
    const ReducedTrade trade = reduce_trade(market_of({20, 18, 9, 3}, {2, 5, 11, 30}));
    CHECK(trade.lots == 2);
    CHECK(trade.buyers_pay == 10);
    CHECK(trade.sellers_get == 10);
    CHECK(trade.worth == 20 + 18 - 2 - 5);
    CHECK(trade.left_over == 0);
    CHECK(trade.sold == std::vector<bool>{true, true, false, false});
}

TEST_CASE("trade reduction leaves the last served bid out, and money over") {
    const ReducedTrade single = reduce_trade(market_of({20, 18, 9}, {2, 5, 40}));
    CHECK(single.lots == 1);  // the middle of 9 and 40 is more than 18
    CHECK(single.buyers_pay == 18);
    CHECK(single.sellers_get == 5);
    CHECK(single.left_over == 13);
    const ReducedTrade gangs = reduce_trade(market_of({20, 18, 9}, {1, 2, 3, 4, 50, 60}, 2));
    CHECK(gangs.lots == 2);
    CHECK(gangs.buyers_pay == 18);
    CHECK(gangs.sellers_get == 3);
    CHECK(gangs.left_over == 30);
    CHECK(gangs.worth == 40 - 3);
    CHECK(reduce_trade(market_of({20, 18}, {1, 2, 3})).lots == 0);
    CHECK(reduce_trade(market_of({1, 1, 1}, {2, 2, 2})).lots == 0);
}

TEST_CASE("a family of random classes is what its name says, and the same from the same seed") {
    for (const MarketFamily family : kFamilies) {
        const ClassMarket market = random_class(family, {400, 800}, 5);
        const ClassMarket again = random_class(family, {400, 800}, 5);
        CHECK(contracts::clear_class(market).matches == contracts::clear_class(again).matches);
        CHECK(contracts::clear_class(market).matches !=
              contracts::clear_class(random_class(family, {400, 800}, 6)).matches);
        CHECK((market.base_price.units() == 2000) == (family == MarketFamily::kFloor));
        const auto most =
            std::max_element(market.bids.begin(), market.bids.end(),
                             [](const auto& left, const auto& right) { return left.lots < right.lots; });
        const std::uint32_t largest = family == MarketFamily::kOneLot  ? 1
                                      : family == MarketFamily::kHeavy ? 201
                                                                       : 32;
        CHECK(most->lots <= largest);
        CHECK(most->lots > largest / 2);
    }
}

TEST_CASE("no seller gains by McAfee's rule with a lot a bid, and some do by ours, which sells more") {
    const ClassStudy found = study(
        {.family = MarketFamily::kOneLot, .size = {8, 12}, .markets = 60, .sellers = 12, .prices = 100});
    CHECK(found.mcafee.can_gain == 0);
    CHECK(found.ours.can_gain > 0);
    CHECK(found.ours.left_over == 0);
    CHECK(found.mcafee.lots < 1);
    CHECK(found.ours.welfare > found.mcafee.welfare);
    CHECK(found.ours.welfare == Approx(1));  // of single lots, the greedy rule sells the best
    const ClassStudy gangs =
        study({.family = MarketFamily::kGangs, .size = {8, 12}, .markets = 60, .sellers = 0});
    CHECK(gangs.mcafee.left_over > 0);
    CHECK(gangs.ours.welfare > gangs.mcafee.welfare);
    CHECK(gangs.ours.welfare <= gangs.paying);
    CHECK(gangs.ours.sellers_gain == 0);  // nobody was tried
}

}  // namespace assay::node::sim::test
