// SPDX-License-Identifier: Apache-2.0
#include "node/sim/market/study.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "node/sim/market/optimum.hpp"
#include "node/sim/market/trade_reduction.hpp"

namespace assay::node::sim {

namespace {

using contracts::Amount;
using contracts::ClassMarket;

/// What a lot's seller gets, nothing where it is not sold.
using Rule = std::function<std::optional<std::uint64_t>(const ClassMarket&, std::size_t ask)>;

std::optional<std::uint64_t> by_ours(const ClassMarket& market, std::size_t ask) {
    for (const contracts::Match& match : contracts::clear_class(market).matches)
        if (match.ask == ask) return match.price.units();
    return std::nullopt;
}

std::optional<std::uint64_t> by_mcafee(const ClassMarket& market, std::size_t ask) {
    const ReducedTrade trade = reduce_trade(market);
    return trade.sold[ask] ? std::optional(trade.sellers_get) : std::nullopt;
}

struct StudyTotals {
    double worth = 0, worst = 1, lots = 0, paid = 0, left_over = 0, earned = 0, gained = 0, gainers = 0;

    void add_worth(double share) {
        worth += share;
        worst = std::min(worst, share);
    }
};

/// Prices above the cost at which anything can change, no more than asked for, spread evenly.
std::vector<std::uint64_t> dearer_asks(const ClassMarket& market, std::size_t ask, std::uint64_t most) {
    const std::uint64_t cost = market.asks[ask].price.units();
    std::vector<std::uint64_t> all;
    const auto around = [&](std::uint64_t price) {
        for (const std::uint64_t near : {price - (price > 0 ? 1 : 0), price, price + 1})
            if (near > cost && near <= base::kAmountMax) all.push_back(near);
    };
    for (const contracts::ClassBid& bid : market.bids) around(bid.price.units());
    for (const contracts::ClassAsk& other : market.asks) around(other.price.units());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (const auto highest = contracts::critical_ask(market, ask)) {
        // Our rule sells nothing above it, and McAfee's, which leaves a served bid out, hardly.
        std::erase_if(all, [&](std::uint64_t price) { return price > highest->units(); });
        if (highest->units() > cost) all.push_back(highest->units());
    }
    std::vector<std::uint64_t> some;
    const std::size_t stride = std::max<std::size_t>(1, all.size() / std::max<std::uint64_t>(most, 1));
    for (std::size_t i = 0; i < all.size(); i += stride) some.push_back(all[i]);
    if (!all.empty()) some.push_back(all.back());
    return some;
}

void try_seller(const ClassMarket& market, std::size_t ask, const std::vector<std::uint64_t>& prices,
                const Rule& rule, StudyTotals& totals) {
    const std::uint64_t cost = market.asks[ask].price.units();
    const auto profit_of = [&](const ClassMarket& offered) {
        return static_cast<double>(rule(offered, ask).value_or(cost)) - static_cast<double>(cost);
    };
    const double honest = profit_of(market);
    double best = honest;
    ClassMarket other = market;
    for (const std::uint64_t price : prices) {
        other.asks[ask].price = Amount::of(price).value();
        best = std::max(best, profit_of(other));
    }
    totals.earned += honest;
    totals.gained += best - honest;
    totals.gainers += best > honest ? 1 : 0;
}

RuleStudy over_all(const StudyTotals& totals, double markets, double sellers, double lots_of_ours) {
    return {.welfare = totals.worth / markets,
            .welfare_worst = totals.worst,
            .lots = totals.lots / lots_of_ours,
            .left_over = totals.paid > 0 ? totals.left_over / totals.paid : 0,
            .sellers_gain = totals.earned > 0 ? totals.gained / totals.earned : 0,
            .can_gain = sellers > 0 ? totals.gainers / sellers : 0};
}

}  // namespace

ClassStudy study(const StudyPlan& plan) {
    StudyTotals ours, mcafee, paying;
    double markets = 0;
    double sellers = 0;
    for (std::uint64_t i = 0; i < plan.markets; ++i) {
        const ClassMarket market = random_class(plan.family, plan.size, plan.first_seed + i);
        const auto best = static_cast<double>(best_worth(market, Allowed::kAny));
        if (best <= 0) continue;
        ++markets;
        const contracts::ClassOutcome outcome = contracts::clear_class(market);
        const auto worth = static_cast<double>(worth_sold(market, outcome));
        ours.add_worth(worth / best);
        const auto best_paying = static_cast<double>(best_worth(market, Allowed::kPaying));
        paying.add_worth(best_paying > 0 ? worth / best_paying : 1);
        ours.lots += static_cast<double>(outcome.matches.size());
        const ReducedTrade trade = reduce_trade(market);
        mcafee.add_worth(static_cast<double>(trade.worth) / best);
        mcafee.lots += static_cast<double>(trade.lots);
        mcafee.paid += static_cast<double>(trade.buyers_pay) * static_cast<double>(trade.lots);
        mcafee.left_over += static_cast<double>(trade.left_over);
        for (std::uint64_t seller = 0; seller < std::min<std::uint64_t>(plan.sellers, market.asks.size());
             ++seller) {
            const std::vector<std::uint64_t> prices = dearer_asks(market, seller, plan.prices);
            try_seller(market, seller, prices, by_ours, ours);
            try_seller(market, seller, prices, by_mcafee, mcafee);
            ++sellers;
        }
    }
    if (markets == 0) return {};
    return {.paying = paying.worth / markets,
            .paying_worst = paying.worst,
            .ours = over_all(ours, markets, sellers, ours.lots),
            .mcafee = over_all(mcafee, markets, sellers, ours.lots)};
}

}  // namespace assay::node::sim
