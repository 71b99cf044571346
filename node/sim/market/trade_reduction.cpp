// SPDX-License-Identifier: Apache-2.0
#include "node/sim/market/trade_reduction.hpp"

#include <algorithm>

#include "contracts/rules/market/sorted_class.hpp"

namespace assay::node::sim {

namespace {

using contracts::BookAsk;
using contracts::BookBid;

struct Served {
    std::size_t bids = 0;  ///< the first so many
    std::uint64_t lots = 0;
};

Served serve(const std::vector<BookBid>& bids, const contracts::LotCosts& costs) {
    Served served;
    while (served.bids < bids.size() && costs.fits(bids[served.bids], served.lots))
        served.lots += bids[served.bids++].lots;
    return served;
}

}  // namespace

ReducedTrade reduce_trade(const contracts::ClassMarket& market) {
    constexpr std::size_t kFewest = 3;
    ReducedTrade trade;
    trade.sold.resize(market.asks.size());
    if (market.bids.size() < kFewest || market.asks.size() < kFewest) return trade;
    const contracts::SortedClass sorted(market);
    const std::vector<BookBid>& bids = sorted.bids;
    const std::vector<BookAsk>& asks = sorted.asks;
    const contracts::LotCosts costs(asks);
    Served served = serve(bids, costs);
    if (served.bids == 0) return trade;
    const bool single =
        std::all_of(bids.begin(), bids.end(), [](const BookBid& bid) { return bid.lots == 1; });
    bool all_bear = false;
    if (single && served.bids < bids.size() && served.lots < asks.size()) {
        const std::uint64_t middle = (bids[served.bids].price + asks[served.lots].price) / 2;
        all_bear = middle <= bids[served.bids - 1].price && middle >= costs.dearest(served.lots);
        trade.buyers_pay = trade.sellers_get = middle;
    }
    if (!all_bear) {
        --served.bids;
        served.lots -= bids[served.bids].lots;
        trade.buyers_pay = bids[served.bids].price;
        trade.sellers_get = asks[served.lots].price;
    }
    for (std::size_t i = 0; i < served.bids; ++i) trade.worth += base::Int128{bids[i].price} * bids[i].lots;
    trade.worth -= costs.sum(served.lots);
    trade.lots = served.lots;
    trade.left_over = (base::Int128{trade.buyers_pay} - trade.sellers_get) * served.lots;
    for (std::uint64_t i = 0; i < served.lots; ++i) trade.sold[asks[i].place] = true;
    return trade;
}

}  // namespace assay::node::sim
