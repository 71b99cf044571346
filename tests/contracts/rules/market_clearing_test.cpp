// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/clearing.hpp"

#include <algorithm>
#include <numeric>

#include "tests/contracts/rules/market_reference.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

Amount price_of(std::uint64_t units) { return Amount::of(units).value(); }

struct Wanted {
    std::uint32_t lots = 1;
    std::uint64_t price = 0;
    std::uint64_t owed = 0;
};

/// Bids and asks are named by their places.
ClassMarket market_of(const std::vector<Wanted>& bids, const std::vector<std::uint64_t>& asks,
                      std::uint64_t base_price = 0) {
    ClassMarket market;
    market.base_price = price_of(base_price);
    for (const Wanted& wanted : bids) {
        ClassBid bid;
        bid.job.bytes[0] = static_cast<std::uint8_t>(market.bids.size() + 1);
        bid.lots = wanted.lots;
        bid.price = price_of(wanted.price);
        bid.owed = wanted.owed;
        market.bids.push_back(bid);
    }
    for (const std::uint64_t ask : asks) {
        market.asks.push_back({{}, price_of(ask)});
        market.asks.back().node.bytes[0] = static_cast<std::uint8_t>(market.asks.size());
    }
    return market;
}

/// What each bid pays; nothing for who gets no lot.
std::vector<std::optional<std::uint64_t>> paid(const ClassMarket& market) {
    std::vector<std::optional<std::uint64_t>> all(market.bids.size());
    for (const Match& match : clear_class(market).matches) all[match.bid] = match.price.units();
    return all;
}

using Paid = std::vector<std::optional<std::uint64_t>>;
constexpr auto kNothing = std::nullopt;

}  // namespace

TEST_CASE("all winners pay the dearest lot sold, or what still stands in front of who is left out") {
    CHECK(paid(market_of({{1, 9}, {1, 7}}, {2, 4, 8})) == Paid{4, 4});
    CHECK(paid(market_of({{1, 9}, {1, 7}, {1, 5, 1}}, {2, 4, 8})) == Paid{5 + 1, 5 + 1, kNothing});
    CHECK(paid(market_of({{1, 9, 1}, {1, 7, 1}, {1, 5}}, {2, 4, 8})) == Paid{5, 5, kNothing});
    CHECK(paid(market_of({{2, 9}, {1, 7}, {1, 5, 1}}, {2, 4, 4})) == Paid{5 + 1, 5 + 1, kNothing});
}

TEST_CASE("the clearing of a class without bids, asks or anybody who pays sells nothing") {
    for (const ClassMarket& market :
         {market_of({}, {}), market_of({{1, 9}}, {}), market_of({}, {1, 2}), market_of({{1, 9}}, {10}),
          market_of({{2, 9}}, {1}), market_of({{0, 9}}, {1})}) {
        CHECK(critical_bid(market, market.bids.size()) == kNothing);
        CHECK(critical_ask(market, market.asks.size()) == kNothing);
        const ClassOutcome outcome = clear_class(market);
        CHECK(outcome.matches.empty());
        CHECK(!outcome.lowest);
        CHECK(!outcome.highest);
    }
    CHECK(critical_bid(market_of({{0, 9}}, {1}), 0) == kNothing);
}

TEST_CASE("a bid that does not fit is passed over, and smaller ones behind it win") {
    const ClassMarket market = market_of({{2, 20}, {3, 10, 1}, {1, 9}}, {1, 1, 1});
    CHECK(paid(market) == Paid{10 + 1, kNothing, 1});
    // Alone on all three it would be worth 48, the others together 46.
    CHECK(critical_bid(market, 1) == price_of(17));
}

TEST_CASE("a bid that is worth more alone than all of the greedy rule wins instead") {
    const ClassMarket market = market_of({{1, 11}, {5, 10}}, {0, 0, 0, 0, 0});
    const ClassOutcome outcome = clear_class(market);
    CHECK(outcome.rule == ClearedBy::kBestAlone);
    CHECK(paid(market) == Paid{kNothing, 3});  // 5 times 2 is worth less than 11
}

TEST_CASE("a winner whose price the rule of the best alone sets has the cheapest lots, and no ask is cut") {
    // At any price from 11 on, the second bid wins: alone, on lots that cost nothing. At its own, both win.
    const ClassMarket market = market_of({{1, 101}, {10, 100}}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100});
    const ClassOutcome outcome = clear_class(market);
    CHECK(outcome.rule == ClearedBy::kGreedy);
    CHECK(paid(market) == Paid{100, 11});
    for (const Match& match : outcome.matches) CHECK(match.price >= market.asks[match.ask].price);
    CHECK(outcome.lowest == price_of(11));
    CHECK(outcome.highest == price_of(100));
}

TEST_CASE("a winner pays enough for the greedy rule to stay worth as much as the best alone") {
    const ClassMarket market = market_of({{1, 8}, {1, 8}, {3, 5}}, {0, 0, 0});
    // Both together are worth 16, the third alone 15, and then 12; their lots cost nothing.
    CHECK(paid(market) == Paid{7, 7, kNothing});
    CHECK(paid(market_of({{1, 8}, {1, 8}, {3, 4}}, {0, 0, 0})) == Paid{4, 4, kNothing});
}

TEST_CASE("the base price is the least that a lot costs, and an ask below it counts as it") {
    CHECK(paid(market_of({{1, 9}}, {2}, 6)) == Paid{6});
    CHECK(paid(market_of({{1, 5}}, {2}, 6)) == Paid{kNothing});
    CHECK(critical_ask(market_of({{1, 9}}, {2}, 6), 0) == price_of(9));
    CHECK(critical_ask(market_of({{1, 5}}, {2}, 6), 0) == kNothing);
}

TEST_CASE("a tie goes to whom more is owed, and then to a hash over the seed") {
    ClassMarket market = market_of({{1, 5}, {1, 5}}, {1});
    market.bids[1].owed = 1;
    CHECK(paid(market) == Paid{kNothing, 5});
    CHECK(critical_bid(market, 0) == price_of(6));
    market.bids[1].owed = 0;
    std::size_t first_wins = 0;
    for (std::uint8_t seed = 0; seed < 100; ++seed) {
        market.seed.bytes[0] = seed;
        first_wins += paid(market)[0] ? 1U : 0U;
    }
    CHECK(first_wins > 25);
    CHECK(first_wins < 75);
}

TEST_CASE("amounts at the edge of the integer clear without overflow") {
    constexpr std::uint64_t kMax = base::kAmountMax;
    CHECK(paid(market_of({{3, kMax}, {2, kMax}}, {kMax, kMax, kMax, kMax, kMax})) == Paid{kMax, kMax});
    CHECK(critical_bid(market_of({{1, kMax}, {1, 0}}, {0}), 1) == kNothing);
    ClassMarket market;
    constexpr std::uint32_t kLots = 100'000;
    market.asks.resize(kLots);
    for (std::uint32_t i = 0; i < kLots; ++i) {
        market.asks[i].price = price_of(kMax - i);
        for (std::size_t byte = 0; byte < 4; ++byte)
            market.asks[i].node.bytes[byte] = static_cast<std::uint8_t>(i >> (8 * byte));
    }
    market.bids.push_back({{}, kLots, price_of(kMax), 0});
    CHECK(clear_class(market).matches.size() == kLots);
    CHECK(clear_class(market).highest == price_of(kMax));
    CHECK(critical_ask(market, 0) == price_of(kMax));
    market.bids[0].lots = kLots + 1;
    CHECK(clear_class(market).matches.empty());
    market.bids[0].lots = 0xFFFFFFFF;
    CHECK(clear_class(market).matches.empty());
}

TEST_CASE("the order of bids and asks says nothing") {
    MarketNumbers numbers(20261126);
    for (int n = 0; n < 500; ++n) {
        const ClassMarket market = small_market(numbers, some_shape(numbers));
        ClassMarket turned = market;
        std::reverse(turned.bids.begin(), turned.bids.end());
        std::rotate(turned.asks.begin(),
                    turned.asks.begin() + static_cast<std::ptrdiff_t>(turned.asks.size() / 3),
                    turned.asks.end());
        const auto named = [](const ClassMarket& of) {
            std::vector<std::tuple<Hash256, PublicKey, Amount>> matches;
            for (const Match& match : clear_class(of).matches)
                matches.emplace_back(of.bids[match.bid].job, of.asks[match.ask].node, match.price);
            return matches;
        };
        REQUIRE(named(market) == named(turned));
    }
}

TEST_CASE("winners, prices and what would have won are those of the rule played afresh at each price") {
    MarketNumbers numbers(1);
    for (int n = 0; n < 1000; ++n) {
        CAPTURE(n);
        const ClassMarket market = small_market(numbers, some_shape(numbers));
        const ReferenceOutcome expected = reference_outcome(market);
        const ClassOutcome outcome = clear_class(market);
        REQUIRE(outcome.rule == expected.rule);
        REQUIRE(outcome.matches.size() == expected.lots);
        std::vector<std::uint64_t> lots(market.bids.size());
        std::vector<std::uint64_t> sold(market.asks.size());
        for (const Match& match : outcome.matches) {
            ++lots[match.bid];
            ++sold[match.ask];
            REQUIRE(match.price == reference_critical_bid(market, match.bid));
        }
        for (std::size_t i = 0; i < lots.size(); ++i) {
            REQUIRE(lots[i] == (expected.wins(i) ? market.bids[i].lots : 0));
            REQUIRE(critical_bid(market, i) == reference_critical_bid(market, i));
        }
        for (std::size_t i = 0; i < sold.size(); ++i) {
            REQUIRE(sold[i] == (reference_sells(market, i) ? 1 : 0));
            REQUIRE(critical_ask(market, i) == reference_critical_ask(market, i));
        }
    }
}

TEST_CASE("the base price moves by an eighth at most, toward three quarters of the offered lots sold") {
    const auto next = [](std::uint64_t price, std::uint64_t sold, std::uint64_t offered) {
        return next_base_price(price_of(price), sold, offered, price_of(10)).units();
    };
    CHECK(next(800, 75, 100) == 800);
    CHECK(next(800, 100, 100) == 900);
    CHECK(next(800, 0, 100) == 700);
    CHECK(next(800, 80, 100) == 820);
    CHECK(next(800, 60, 100) == 780);
    CHECK(next(800, 0, 0) == 800);
    CHECK(next(801, 76, 100) == 806);  // rounded up
    CHECK(next(11, 0, 100) == 10);
    CHECK(next(10, 0, 100) == 10);
    CHECK(next(10, 100, 100) == 12);
    CHECK(next(5, 0, 0) == 10);
    CHECK(next_base_price({}, 1, 1, {}).units() == 1);
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    CHECK(next(base::kAmountMax, kMost, kMost) == base::kAmountMax);
    CHECK(next(base::kAmountMax, 0, kMost) == base::kAmountMax / 8 * 7);
}

}  // namespace assay::contracts::test
