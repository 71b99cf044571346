// SPDX-License-Identifier: Apache-2.0
#include "node/sim/market/optimum.hpp"

#include <algorithm>
#include <vector>

#include "contracts/rules/market/sorted_class.hpp"

namespace assay::node::sim {

base::Int128 best_worth(const contracts::ClassMarket& market, Allowed allowed) {
    using base::Int128;
    contracts::SortedClass sorted(market);
    std::vector<contracts::BookBid>& bids = sorted.bids;
    // Ascending: who pays least has the cheapest lots, which is possible wherever anything is.
    std::reverse(bids.begin(), bids.end());
    const contracts::LotCosts costs(sorted.asks);
    constexpr Int128 kNone = -1;
    std::vector<Int128> paid(costs.count() + 1, kNone);  // by exactly so many lots
    paid[0] = 0;
    for (const contracts::BookBid& bid : bids) {
        if (bid.lots == 0 || bid.lots > costs.count()) continue;
        const std::uint64_t most = allowed == Allowed::kAny ? costs.count() : costs.within(bid.price);
        const Int128 pays = Int128{bid.price} * bid.lots;
        for (std::uint64_t used = most + 1; used-- > bid.lots;) {
            const Int128 before = paid[used - bid.lots];
            if (before != kNone) paid[used] = std::max(paid[used], before + pays);
        }
    }
    Int128 best = 0;
    for (std::uint64_t used = 0; used < paid.size(); ++used)
        if (paid[used] != kNone) best = std::max(best, paid[used] - costs.sum(used));
    return best;
}

base::Int128 worth_sold(const contracts::ClassMarket& market, const contracts::ClassOutcome& outcome) {
    base::Int128 worth = 0;
    for (const contracts::Match& match : outcome.matches)
        worth += base::Int128{market.bids[match.bid].price.units()} -
                 std::max(market.asks[match.ask].price, market.base_price).units();
    return worth;
}

}  // namespace assay::node::sim
