// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "contracts/rules/market/clearing.hpp"
#include "contracts/rules/market/sorted_class.hpp"

namespace assay::contracts {

namespace {

std::optional<Amount> amount_of(std::optional<std::uint64_t> units) {
    return units ? Amount::of(*units) : std::nullopt;
}

std::uint64_t lots_sold(const BothRules& result, const std::vector<BookBid>& bids) {
    return result.rule() == ClearedBy::kBestAlone ? bids[*result.best].lots : result.lots;
}

}  // namespace

std::optional<Amount> critical_bid(const ClassMarket& market, std::size_t bid) {
    return critical_bid(SortedClass(market), bid);
}

std::optional<Amount> critical_ask(const ClassMarket& market, std::size_t ask) {
    return critical_ask(SortedClass(market), ask);
}

std::optional<Amount> critical_bid(const SortedClass& sorted, std::size_t bid) {
    if (bid >= sorted.bids.size()) return std::nullopt;
    std::vector<BookBid> others = sorted.bids;
    const auto own =
        std::find_if(others.begin(), others.end(), [&](const BookBid& one) { return one.place == bid; });
    const BookBid asked = *own;
    others.erase(own);
    return amount_of(least_winning_price(std::move(others), asked, LotCosts(sorted.asks), base::kAmountMax));
}

std::optional<Amount> critical_ask(const SortedClass& sorted, std::size_t ask) {
    if (ask >= sorted.asks.size() || sorted.bids.empty()) return std::nullopt;
    const std::vector<BookBid>& bids = sorted.bids;
    std::vector<BookAsk> others = sorted.asks;
    const auto own =
        std::find_if(others.begin(), others.end(), [&](const BookAsk& one) { return one.place == ask; });
    BookAsk asked = *own;
    others.erase(own);
    const auto is_sold_at = [&](std::uint64_t price) {
        asked.price = price;
        const auto at = std::lower_bound(others.begin(), others.end(), asked, used_before);
        const auto place = static_cast<std::size_t>(at - others.begin());
        others.insert(at, asked);
        const BothRules result = apply_both_rules(bids, LotCosts(others));
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
        return place < lots_sold(result, bids);
    };
    // Who is sold at a price is sold at each below: a bid that fits because the ask fell uses that ask.
    std::uint64_t low = sorted.base_price;
    std::uint64_t high = bids.front().price;
    if (low > high || !is_sold_at(low)) return std::nullopt;
    while (low < high) {
        const std::uint64_t middle = low + (high - low + 1) / 2;
        if (is_sold_at(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return Amount::of(low);
}

}  // namespace assay::contracts
