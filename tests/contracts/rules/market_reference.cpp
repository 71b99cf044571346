// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/rules/market_reference.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace assay::contracts::test {

using base::Int128;

namespace {

Hash256 tie(const ClassMarket& market, base::ByteView name) {
    return base::Hasher("assay/class-tie/v1").add(market.seed).add(name).finish();
}

std::vector<std::size_t> places(std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

std::vector<std::size_t> bids_in_order(const ClassMarket& market) {
    std::vector<std::size_t> order = places(market.bids.size());
    std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        const ClassBid& a = market.bids[left];
        const ClassBid& b = market.bids[right];
        if (a.price != b.price) return a.price > b.price;
        if (a.owed != b.owed) return a.owed > b.owed;
        return tie(market, a.job.view()) < tie(market, b.job.view());
    });
    return order;
}

/// Of these lots in their order: nothing where the bid cannot pay one of them, or they are too few.
std::optional<Int128> worth_on(const ClassMarket& market, const ClassBid& bid,
                               const std::vector<std::size_t>& asks, std::size_t from) {
    if (asks.size() < from + bid.lots) return std::nullopt;
    Int128 worth = 0;
    for (std::size_t i = from; i < from + bid.lots; ++i) {
        const std::uint64_t ask = counted(market, market.asks[asks[i]]);
        if (ask > bid.price.units()) return std::nullopt;
        worth += Int128{bid.price.units()} - ask;
    }
    return worth;
}

/// Whether some order of these bids puts each on lots that it can pay: the poorest first, on the cheapest.
bool all_pay(const ClassMarket& market, std::vector<std::size_t> bids, const std::vector<std::size_t>& asks) {
    std::sort(bids.begin(), bids.end(), [&](std::size_t left, std::size_t right) {
        return market.bids[left].price < market.bids[right].price;
    });
    std::size_t used = 0;
    for (const std::size_t bid : bids) {
        if (!worth_on(market, market.bids[bid], asks, used)) return false;
        used += market.bids[bid].lots;
    }
    return true;
}

}  // namespace

std::uint64_t MarketNumbers::word() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
}

ClassMarket small_market(MarketNumbers& numbers, const SmallShape& shape) {
    const auto price = [&] { return Amount::of(numbers.between(0, shape.highest_price)).value(); };
    ClassMarket market;
    if (numbers.between(0, 1) == 0) market.base_price = Amount::of(price().units() / 2).value();
    market.seed.bytes[0] = static_cast<std::uint8_t>(numbers.word());
    market.bids.resize(numbers.between(0, shape.most_bids));
    market.asks.resize(numbers.between(0, shape.most_asks));
    for (std::size_t i = 0; i < market.bids.size(); ++i) {
        ClassBid& bid = market.bids[i];
        bid.job.bytes[0] = static_cast<std::uint8_t>(i + 1);
        bid.lots = static_cast<std::uint32_t>(numbers.between(1, shape.most_lots));
        bid.price = price();
        bid.owed = numbers.between(0, 2);
    }
    for (std::size_t i = 0; i < market.asks.size(); ++i) {
        market.asks[i].node.bytes[0] = static_cast<std::uint8_t>(i + 1);
        // Half of them cheap: a bid alone on cheap lots is what both rules differ by.
        market.asks[i].price = numbers.between(0, 1) == 0 ? price() : Amount::of(price().units() / 8).value();
    }
    return market;
}

SmallShape some_shape(MarketNumbers& numbers) {
    constexpr std::uint64_t kHighest[] = {1, 4, 12, 40, 1'000, 1'000'000'000, base::kAmountMax};
    return {.most_bids = numbers.between(1, 7),
            .most_asks = numbers.between(1, 12),
            .most_lots = numbers.between(1, 9),
            .highest_price = kHighest[numbers.between(0, std::size(kHighest) - 1)]};
}

bool ReferenceOutcome::wins(std::size_t bid) const {
    return std::find(winners.begin(), winners.end(), bid) != winners.end();
}

std::uint64_t counted(const ClassMarket& market, const ClassAsk& ask) {
    return std::max(market.base_price.units(), ask.price.units());
}

std::vector<std::size_t> asks_in_order(const ClassMarket& market) {
    std::vector<std::size_t> order = places(market.asks.size());
    std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        const ClassAsk& a = market.asks[left];
        const ClassAsk& b = market.asks[right];
        if (counted(market, a) != counted(market, b)) return counted(market, a) < counted(market, b);
        return tie(market, a.node.view()) < tie(market, b.node.view());
    });
    return order;
}

ReferenceOutcome reference_outcome(const ClassMarket& market) {
    const std::vector<std::size_t> asks = asks_in_order(market);
    ReferenceOutcome greedy;
    ReferenceOutcome alone;
    alone.rule = ClearedBy::kBestAlone;
    for (const std::size_t i : bids_in_order(market)) {
        const ClassBid& bid = market.bids[i];
        if (const auto worth = worth_on(market, bid, asks, greedy.lots)) {
            greedy.winners.push_back(i);
            greedy.lots += bid.lots;
            greedy.worth += *worth;
        }
        const auto worth = worth_on(market, bid, asks, 0);
        if (worth && (alone.winners.empty() || *worth > alone.worth)) {
            alone.winners = {i};
            alone.lots = bid.lots;
            alone.worth = *worth;
        }
    }
    return alone.worth > greedy.worth ? alone : greedy;
}

bool reference_sells(const ClassMarket& market, std::size_t ask) {
    const std::vector<std::size_t> asks = asks_in_order(market);
    const auto sold = static_cast<std::ptrdiff_t>(reference_outcome(market).lots);
    return std::find(asks.begin(), asks.begin() + sold, ask) != asks.begin() + sold;
}

std::optional<Amount> reference_critical_bid(ClassMarket market, std::size_t bid) {
    const auto wins_at = [&](std::uint64_t price) {
        market.bids[bid].price = Amount::of(price).value();
        return reference_outcome(market).wins(bid);
    };
    if (!wins_at(base::kAmountMax)) return std::nullopt;
    std::uint64_t loses_below = 0;
    std::uint64_t wins = base::kAmountMax;
    while (loses_below < wins) {
        const std::uint64_t middle = loses_below + (wins - loses_below) / 2;
        (wins_at(middle) ? wins : loses_below) = wins_at(middle) ? middle : middle + 1;
    }
    return Amount::of(wins);
}

std::optional<Amount> reference_critical_ask(ClassMarket market, std::size_t ask) {
    const auto sold_at = [&](std::uint64_t price) {
        market.asks[ask].price = Amount::of(price).value();
        return reference_sells(market, ask);
    };
    if (!sold_at(0)) return std::nullopt;
    std::uint64_t sold = 0;
    std::uint64_t left_above = base::kAmountMax + 1;
    while (left_above - sold > 1) {
        const std::uint64_t middle = sold + (left_above - sold) / 2;
        (sold_at(middle) ? sold : left_above) = middle;
    }
    return Amount::of(sold);
}

Int128 worth_of(const ClassMarket& market, const ClassOutcome& outcome) {
    Int128 worth = 0;
    for (const Match& match : outcome.matches)
        worth += Int128{market.bids[match.bid].price.units()} - counted(market, market.asks[match.ask]);
    return worth;
}

Optimum optimum_of(const ClassMarket& market) {
    const std::vector<std::size_t> asks = asks_in_order(market);
    Optimum best;
    for (std::uint32_t set = 0; set < (1U << market.bids.size()); ++set) {
        std::vector<std::size_t> bids;
        std::size_t lots = 0;
        Int128 worth = 0;
        for (std::size_t i = 0; i < market.bids.size(); ++i) {
            if ((set >> i & 1U) == 0) continue;
            bids.push_back(i);
            lots += market.bids[i].lots;
            worth += Int128{market.bids[i].price.units()} * market.bids[i].lots;
        }
        if (lots > asks.size()) continue;
        for (std::size_t i = 0; i < lots; ++i) worth -= counted(market, market.asks[asks[i]]);
        best.any = std::max(best.any, worth);
        if (worth > best.paying && all_pay(market, bids, asks)) best.paying = worth;
    }
    return best;
}

}  // namespace assay::contracts::test
