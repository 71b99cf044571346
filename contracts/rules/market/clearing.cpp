// SPDX-License-Identifier: Apache-2.0
// The law of clearing.hpp taken at its word: critical prices are searched for.
#include "contracts/rules/market/clearing.hpp"

#include <algorithm>
#include <numeric>

#include "contracts/base/wide.hpp"

namespace assay::contracts {

namespace {

using base::Int128;

Hash256 tie(const Hash256& seed, base::ByteView name) {
    return base::Hasher("assay/market-tie/v1").add(seed).add(name).finish();
}

struct Allocation {
    ClearedBy rule = ClearedBy::kGreedy;
    std::vector<std::pair<std::size_t, std::vector<std::size_t>>> served;  // bid, its asks
    [[nodiscard]] bool serves(std::size_t bid) const {
        return std::any_of(served.begin(), served.end(), [&](const auto& one) { return one.first == bid; });
    }
};

Amount effective(const ClassMarket& market, std::size_t ask) {
    return std::max(market.asks[ask].price, market.base_price);
}

/// What does not depend on the bids' prices.
struct SortedClass {
    explicit SortedClass(const ClassMarket& of) : asks(of.asks.size()), sums{0} {
        std::iota(asks.begin(), asks.end(), std::size_t{0});
        std::vector<Hash256> ties;
        for (const ClassAsk& ask : of.asks) ties.push_back(tie(of.seed, ask.node.view()));
        std::sort(asks.begin(), asks.end(), [&](std::size_t a, std::size_t b) {
            const Amount first = effective(of, a), second = effective(of, b);
            return first != second ? first < second : ties[a] < ties[b];
        });
        for (const std::size_t ask : asks) sums.push_back(sums.back() + Int128{effective(of, ask).units()});
        for (const ClassBid& bid : of.bids) bid_ties.push_back(tie(of.seed, bid.job.view()));
    }
    std::vector<std::size_t> asks;  ///< ascending
    std::vector<Int128> sums;       ///< of the first so many
    std::vector<Hash256> bid_ties;
};

std::vector<std::size_t> bids_descending(const ClassMarket& market, const SortedClass& prepared) {
    std::vector<std::size_t> order(market.bids.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const ClassBid &first = market.bids[a], &second = market.bids[b];
        if (first.price != second.price) return first.price > second.price;
        return first.owed != second.owed ? first.owed > second.owed
                                         : prepared.bid_ties[a] < prepared.bid_ties[b];
    });
    return order;
}

Allocation allocate(const ClassMarket& market, const SortedClass& prepared) {
    const auto& asks = prepared.asks;
    const auto& sums = prepared.sums;
    const auto fits = [&](const ClassBid& bid, std::size_t from) {
        return bid.lots <= asks.size() - from && effective(market, asks[from + bid.lots - 1]) <= bid.price;
    };
    const auto worth = [&](const ClassBid& bid, std::size_t from) {
        return Int128{bid.price.units()} * bid.lots - (sums[from + bid.lots] - sums[from]);
    };
    const auto taken_by = [&](std::size_t bid, std::size_t from) {
        const auto first = asks.begin() + static_cast<std::ptrdiff_t>(from);
        return std::pair(bid, std::vector<std::size_t>(first, first + market.bids[bid].lots));
    };
    Allocation greedy;
    std::size_t taken = 0;
    Int128 sold = 0, best = 0;
    std::optional<std::size_t> alone;
    bool ended = false;
    for (const std::size_t i : bids_descending(market, prepared)) {
        const ClassBid& bid = market.bids[i];
        if (!fits(bid, 0)) continue;
        if (!alone || worth(bid, 0) > best) {
            alone = i;
            best = worth(bid, 0);
        }
        ended = ended || !fits(bid, taken);
        if (ended) continue;
        sold += worth(bid, taken);
        greedy.served.push_back(taken_by(i, taken));
        taken += bid.lots;
    }
    if (!alone || best <= sold) return greedy;
    Allocation single;
    single.rule = ClearedBy::kBestAlone;
    single.served.push_back(taken_by(*alone, 0));
    return single;
}

std::optional<Amount> least_winning(const ClassMarket& market, const SortedClass& prepared, std::size_t bid) {
    ClassMarket other = market;
    const auto wins = [&](std::uint64_t price) {
        other.bids[bid].price = *Amount::of(price);
        return allocate(other, prepared).serves(bid);
    };
    std::uint64_t low = 0, high = base::kAmountMax;
    if (!wins(high)) return std::nullopt;
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (wins(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return Amount::of(low);
}

}  // namespace

std::optional<Amount> critical_bid(const ClassMarket& market, std::size_t bid) {
    return least_winning(market, SortedClass(market), bid);
}

std::optional<Amount> critical_ask(const ClassMarket& market, std::size_t ask) {
    ClassMarket other = market;
    const auto sells = [&](std::uint64_t price) {
        other.asks[ask].price = *Amount::of(price);
        for (const auto& [bid, asks] : allocate(other, SortedClass(other)).served)
            if (std::find(asks.begin(), asks.end(), ask) != asks.end()) return true;
        return false;
    };
    if (!sells(0)) return std::nullopt;
    std::uint64_t low = 0, high = base::kAmountMax;
    while (low < high) {
        const std::uint64_t middle = high - (high - low) / 2;
        if (sells(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return Amount::of(low);
}

ClassOutcome clear_class(const ClassMarket& market) {
    const SortedClass prepared(market);
    const Allocation allocation = allocate(market, prepared);
    ClassOutcome outcome;
    outcome.rule = allocation.rule;
    for (const auto& [bid, asks] : allocation.served) {
        const Amount price = least_winning(market, prepared, bid).value();
        for (const std::size_t ask : asks) outcome.matches.push_back({bid, ask, price});
        outcome.lowest = outcome.lowest ? std::min(*outcome.lowest, price) : price;
        outcome.highest = outcome.highest ? std::max(*outcome.highest, price) : price;
    }
    return outcome;
}

Amount next_base_price(Amount base_price, std::uint64_t sold, std::uint64_t offered, Amount least) {
    if (offered == 0) return std::max(base_price, least);
    // The error against three quarters, at most one to either side, times an eighth.
    const std::uint64_t at = std::min(sold, offered);
    const base::Uint128 target = base::Uint128{3} * offered;
    const base::Uint128 have = base::Uint128{4} * at;
    const bool up = have >= target;
    const base::Uint128 error = up ? have - target : target - have;
    const base::Uint128 whole = up ? base::Uint128{offered} : base::Uint128{3} * offered;
    const base::Uint128 step = (base::Uint128{base_price.units()} * error + 8 * whole - 1) / (8 * whole);
    const auto move = Amount::of(static_cast<std::uint64_t>(step)).value_or(Amount{});
    const Amount next =
        up ? base_price.plus(move).value_or(base_price) : base_price.minus(move).value_or(Amount{});
    return std::max(next, least);
}

}  // namespace assay::contracts
