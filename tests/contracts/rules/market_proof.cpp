// SPDX-License-Identifier: Apache-2.0
// market_proof COUNT [SEED]: what decision 86 claims of the clearing, over COUNT random instances of three
// classes each. Prints what was tried and what was found; fails where a claim is broken.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "tests/contracts/rules/market_reference.hpp"

namespace assay::contracts::test {

namespace {

using base::Int128;

constexpr int kClasses = 3;
constexpr double kLeastWelfare = 0.95;  // on average, of the best of all

struct Ratio {
    std::uint64_t count = 0;
    double sum = 0;
    double worst = 1;
    [[nodiscard]] double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
    void add(Int128 part, Int128 whole) {
        if (whole == 0) return;
        ++count;
        const double ratio = static_cast<double>(part) / static_cast<double>(whole);
        sum += ratio;
        worst = std::min(worst, ratio);
    }
};

struct Found {
    std::uint64_t classes = 0, best_alone = 0, several_prices = 0;
    std::uint64_t price_misreports = 0, lot_misreports = 0, counterfactuals = 0, broken = 0;
    Ratio paying, any;

    void require(bool holds, const char* claim, std::uint64_t instance) {
        if (holds) return;
        if (++broken <= 10)
            std::printf("instance %llu breaks: %s\n", static_cast<unsigned long long>(instance), claim);
    }
};

/// Lots that a bid got and what it pays for all of them.
struct Bought {
    std::uint64_t lots = 0;
    Int128 cost = 0;
};
Bought bought(const ClassMarket& market, std::size_t bid) {
    Bought all;
    for (const Match& match : clear_class(market).matches) {
        if (match.bid != bid) continue;
        ++all.lots;
        all.cost += match.price.units();
    }
    return all;
}

/// Of a bidder that needs `lots` of them, each worth `value` to it, and none worth anything otherwise.
Int128 utility(const Bought& got, std::uint64_t lots, std::uint64_t value) {
    return (got.lots >= lots ? Int128{value} * lots : 0) - got.cost;
}

/// Every price at which anything can change: of bids, asks, what a worth turns at, and one unit around each.
std::set<std::uint64_t> deviations(const ClassMarket& market, std::size_t bid) {
    std::set<std::uint64_t> prices{0, base::kAmountMax};
    const auto around = [&](std::uint64_t price) {
        for (std::uint64_t near = price == 0 ? 0 : price - 1; near <= price + 1; ++near)
            if (near <= base::kAmountMax) prices.insert(near);
    };
    around(market.base_price.units());
    for (const ClassBid& other : market.bids) around(other.price.units());
    for (const ClassAsk& ask : market.asks) around(ask.price.units());
    if (const auto critical = critical_bid(market, bid)) around(critical->units());
    return prices;
}

void misreports(const ClassMarket& market, std::uint64_t instance, Found& found) {
    for (std::size_t bid = 0; bid < market.bids.size(); ++bid) {
        const std::uint32_t lots = market.bids[bid].lots;
        const std::uint64_t value = market.bids[bid].price.units();
        const Int128 truthful = utility(bought(market, bid), lots, value);
        found.require(truthful >= 0, "who bids its value loses nothing", instance);
        ClassMarket other = market;
        for (const std::uint64_t price : deviations(market, bid)) {
            other.bids[bid].price = Amount::of(price).value();
            found.require(utility(bought(other, bid), lots, value) <= truthful, "no other price gains",
                          instance);
            ++found.price_misreports;
        }
        for (const std::uint32_t more : {lots + 1, lots + 3}) {
            other.bids[bid].lots = more;
            const auto whole = static_cast<std::uint64_t>(Int128{value} * lots / more);
            for (const std::uint64_t price : {value, whole, whole + 1}) {
                if (price > base::kAmountMax) continue;
                other.bids[bid].price = Amount::of(price).value();
                // Prices are whole: what their rounding leaves is less than a unit a lot.
                found.require(utility(bought(other, bid), lots, value) < truthful + lots,
                              "more lots than needed gain nothing", instance);
                ++found.lot_misreports;
            }
        }
    }
}

void counterfactuals(const ClassMarket& market, std::uint64_t instance, Found& found) {
    ClassMarket other = market;
    for (std::size_t bid = 0; bid < market.bids.size(); ++bid) {
        const auto wins_at = [&](std::uint64_t price) {
            other.bids[bid].price = Amount::of(price).value();
            return bought(other, bid).lots == market.bids[bid].lots;
        };
        const auto least = critical_bid(market, bid);
        found.require(wins_at(least ? least->units() : base::kAmountMax) == least.has_value(),
                      "the quoted bid wins", instance);
        if (least && !least->is_zero())
            found.require(!wins_at(least->units() - 1), "one unit less loses", instance);
        other.bids[bid] = market.bids[bid];
        ++found.counterfactuals;
    }
    for (std::size_t ask = 0; ask < market.asks.size(); ++ask) {
        const auto sold_at = [&](std::uint64_t price) {
            other.asks[ask].price = Amount::of(price).value();
            const auto matches = clear_class(other).matches;
            return std::any_of(matches.begin(), matches.end(),
                               [&](const Match& match) { return match.ask == ask; });
        };
        const auto most = critical_ask(market, ask);
        found.require(sold_at(most ? most->units() : 0) == most.has_value(), "the quoted ask is sold",
                      instance);
        if (most && most->units() < base::kAmountMax)
            found.require(!sold_at(most->units() + 1), "one unit more is not sold", instance);
        other.asks[ask] = market.asks[ask];
        ++found.counterfactuals;
    }
}

void outcome_holds(const ClassMarket& market, std::uint64_t instance, Found& found) {
    const ClassOutcome outcome = clear_class(market);
    std::vector<std::uint64_t> lots(market.bids.size());
    std::vector<bool> sold(market.asks.size());
    for (const Match& match : outcome.matches) {
        found.require(match.price.units() >= counted(market, market.asks[match.ask]),
                      "each match pays its ask and the base price", instance);
        found.require(match.price <= market.bids[match.bid].price, "no match pays more than it bid",
                      instance);
        found.require(!sold[match.ask], "no lot is sold twice", instance);
        sold[match.ask] = true;
        ++lots[match.bid];
    }
    for (std::size_t i = 0; i < lots.size(); ++i)
        found.require(lots[i] == 0 || lots[i] == market.bids[i].lots, "all lots or nothing", instance);
    const Optimum optimum = optimum_of(market);
    const Int128 worth = worth_of(market, outcome);
    found.require(2 * worth >= optimum.paying, "at least half of the best in which everybody pays", instance);
    ++found.classes;
    found.best_alone += outcome.rule == ClearedBy::kBestAlone ? 1U : 0U;
    found.several_prices += outcome.lowest != outcome.highest ? 1U : 0U;
    found.paying.add(worth, optimum.paying);
    found.any.add(worth, optimum.any);
}

int prove(std::uint64_t count, std::uint64_t seed) {
    Found found;
    MarketNumbers numbers(seed);
    for (std::uint64_t instance = 0; instance < count; ++instance) {
        for (int one = 0; one < kClasses; ++one) {
            const ClassMarket market = small_market(numbers, some_shape(numbers));
            outcome_holds(market, instance, found);
            misreports(market, instance, found);
            if (instance % 4 == 0) counterfactuals(market, instance, found);
        }
    }
    const auto n = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
    std::printf("instances %llu of %d classes, seed %llu\n", n(count), kClasses, n(seed));
    std::printf("classes won by the best alone %llu, with several prices %llu\n", n(found.best_alone),
                n(found.several_prices));
    std::printf("misreports of a price %llu, of lots %llu, quoted counterfactuals %llu\n",
                n(found.price_misreports), n(found.lot_misreports), n(found.counterfactuals));
    std::printf("welfare of the best in which everybody pays its lots: %.4f on average, %.4f at worst\n",
                found.paying.mean(), found.paying.worst);
    std::printf("welfare of the best of all: %.4f on average, %.4f at worst\n", found.any.mean(),
                found.any.worst);
    std::printf("broken claims %llu\n", n(found.broken));
    return found.broken == 0 && found.any.mean() >= kLeastWelfare ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

}  // namespace assay::contracts::test

int main(int argc, char** argv) {
    const auto number = [&](int at, std::uint64_t otherwise) {
        return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
    };
    return assay::contracts::test::prove(number(1, 1000), number(2, 20261126));
}
