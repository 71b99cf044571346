// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/sorted_class.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace assay::contracts {

namespace {

Hash256 tie_of(const Hash256& seed, base::ByteView name) {
    return base::Hasher("assay/class-tie/v1").add(seed).add(name).finish();
}

std::vector<std::uint64_t> prices_of(const std::vector<BookAsk>& asks) {
    std::vector<std::uint64_t> prices;
    prices.reserve(asks.size());
    for (const BookAsk& ask : asks) prices.push_back(ask.price);
    return prices;
}

}  // namespace

bool served_before(const BookBid& left, const BookBid& right) {
    return std::tie(right.price, right.owed, left.tie, left.place) <
           std::tie(left.price, left.owed, right.tie, right.place);
}

bool used_before(const BookAsk& left, const BookAsk& right) {
    return std::tie(left.price, left.tie, left.place) < std::tie(right.price, right.tie, right.place);
}

SortedClass::SortedClass(const ClassMarket& market) : base_price(market.base_price.units()) {
    bids.reserve(market.bids.size());
    for (const ClassBid& bid : market.bids) {
        bids.push_back({.price = bid.price.units(),
                        .owed = bid.owed,
                        .tie = tie_of(market.seed, bid.job.view()),
                        .lots = bid.lots,
                        .place = bids.size()});
    }
    std::sort(bids.begin(), bids.end(), served_before);
    asks.reserve(market.asks.size());
    for (const ClassAsk& ask : market.asks) {
        asks.push_back({.price = std::max(ask.price.units(), base_price),
                        .tie = tie_of(market.seed, ask.node.view()),
                        .place = asks.size()});
    }
    std::sort(asks.begin(), asks.end(), used_before);
}

LotCosts::LotCosts(std::vector<std::uint64_t> prices) : prices_(std::move(prices)) {
    sums_.reserve(prices_.size() + 1);
    sums_.push_back(0);
    for (const std::uint64_t price : prices_) sums_.push_back(sums_.back() + price);
}

LotCosts::LotCosts(const std::vector<BookAsk>& asks) : LotCosts(prices_of(asks)) {}

std::uint64_t LotCosts::within(std::uint64_t price) const {
    return static_cast<std::uint64_t>(std::upper_bound(prices_.begin(), prices_.end(), price) -
                                      prices_.begin());
}

BothRules apply_both_rules(const std::vector<BookBid>& bids, const LotCosts& costs) {
    BothRules result;
    for (std::size_t i = 0; i < bids.size(); ++i) {
        const BookBid& bid = bids[i];
        // Who does not fit with the cheapest lots to itself fits nowhere.
        if (!costs.fits(bid, 0)) continue;
        const base::Int128 pays = base::Int128{bid.price} * bid.lots;
        const base::Int128 alone = pays - costs.sum(bid.lots);
        if (!result.best || alone > result.best_worth) {
            result.best = i;
            result.best_worth = alone;
        }
        if (!costs.fits(bid, result.lots)) continue;
        result.served.push_back(i);
        result.worth += pays - (costs.sum(result.lots + bid.lots) - costs.sum(result.lots));
        result.lots += bid.lots;
    }
    return result;
}

std::optional<std::uint64_t> least_winning_price(std::vector<BookBid> others, BookBid bid,
                                                 const LotCosts& costs, std::uint64_t limit) {
    if (bid.lots == 0 || bid.lots > costs.count()) return std::nullopt;
    const auto wins_at = [&](std::uint64_t price) {
        bid.price = price;
        const auto at = std::lower_bound(others.begin(), others.end(), bid, served_before);
        const auto place = static_cast<std::size_t>(at - others.begin());
        others.insert(at, bid);
        const BothRules result = apply_both_rules(others, costs);
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
        if (result.rule() == ClearedBy::kBestAlone) return result.best == place;
        return std::binary_search(result.served.begin(), result.served.end(), place);
    };
    // Both rules are monotone, and so is the better of them: who wins at a price wins at each above.
    std::uint64_t low = costs.dearest(bid.lots);
    std::uint64_t high = limit;
    if (low > high || !wins_at(high)) return std::nullopt;
    // First between which two prices of others: amounts have 63 bits, and prices are close together.
    std::size_t first = 0;
    std::size_t last = others.size();
    while (first < last) {
        const std::size_t middle = first + (last - first) / 2;
        const std::uint64_t price = others[middle].price;
        if (price >= high || (price >= low && wins_at(price))) {
            high = std::min(high, price);
            first = middle + 1;
        } else {
            low = std::max(low, price + 1);
            last = middle;
        }
    }
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (wins_at(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return high;
}

}  // namespace assay::contracts
