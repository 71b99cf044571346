// SPDX-License-Identifier: Apache-2.0
// Gives the clearing of a class its sorted bids and asks, and what both rules come to on them (decision 86).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/base/wide.hpp"
#include "contracts/rules/market/clearing.hpp"

namespace assay::contracts {

/// A bid in the order of serving: price descending, then what is owed descending, then the tie's hash.
struct BookBid {
    std::uint64_t price = 0;
    std::uint64_t owed = 0;
    Hash256 tie;
    std::uint64_t lots = 0;
    std::size_t place = 0;  ///< in ClassMarket::bids
};

/// An ask in the order of use: price ascending, then the tie's hash. The price is at least the base price.
struct BookAsk {
    std::uint64_t price = 0;
    Hash256 tie;
    std::size_t place = 0;  ///< in ClassMarket::asks
};

bool served_before(const BookBid& left, const BookBid& right);
bool used_before(const BookAsk& left, const BookAsk& right);

/// What the n cheapest lots cost, for every n. Sums stay below 2^63 lots times kAmountMax, which 128 bits
/// hold.
class LotCosts {
public:
    /// `prices` ascending.
    explicit LotCosts(std::vector<std::uint64_t> prices);
    explicit LotCosts(const std::vector<BookAsk>& asks);

    [[nodiscard]] std::uint64_t count() const { return prices_.size(); }
    /// Of the n cheapest: the dearest. REQUIRES 1 <= n <= count().
    [[nodiscard]] std::uint64_t dearest(std::uint64_t n) const { return prices_[n - 1]; }
    /// Of the n cheapest: the sum. REQUIRES n <= count().
    [[nodiscard]] base::Int128 sum(std::uint64_t n) const { return sums_[n]; }
    /// Whether a bid is for lots, and pays each of them behind `used` that others have.
    [[nodiscard]] bool fits(const BookBid& bid, std::uint64_t used) const {
        return bid.lots > 0 && bid.lots <= count() - used && bid.price >= dearest(used + bid.lots);
    }
    /// How many lots ask at most this.
    [[nodiscard]] std::uint64_t within(std::uint64_t price) const;

private:
    std::vector<std::uint64_t> prices_;
    std::vector<base::Int128> sums_;
};

/// A class in the orders in which it is cleared. Sorting, with a hash of each tie, is most of what a clearing
/// costs: whoever asks several things of one class sorts it once.
struct SortedClass {
    std::vector<BookBid> bids;
    std::vector<BookAsk> asks;
    std::uint64_t base_price = 0;

    explicit SortedClass(const ClassMarket& market);
};

/// What clear_class, critical_bid and critical_ask say of the class that was sorted.
ClassOutcome clear_class(const SortedClass& sorted);
std::optional<Amount> critical_bid(const SortedClass& sorted, std::size_t bid);
std::optional<Amount> critical_ask(const SortedClass& sorted, std::size_t ask);

/// What both rules come to. Places are those in the sorted bids.
struct BothRules {
    std::vector<std::size_t> served;  ///< by the greedy rule, in its order
    std::uint64_t lots = 0;           ///< sold by the greedy rule
    base::Int128 worth = 0;           ///< of the greedy rule
    std::optional<std::size_t>
        best;  ///< worth most with the cheapest lots to itself; the first of equal ones
    base::Int128 best_worth = 0;

    [[nodiscard]] ClearedBy rule() const {
        return best_worth > worth ? ClearedBy::kBestAlone : ClearedBy::kGreedy;
    }
};

/// REQUIRES sorted bids.
BothRules apply_both_rules(const std::vector<BookBid>& bids, const LotCosts& costs);

/// The least price, at most `limit`, at which `bid` wins against `others`, whatever its own says. Nothing:
/// at none. REQUIRES sorted bids.
std::optional<std::uint64_t> least_winning_price(std::vector<BookBid> others, BookBid bid,
                                                 const LotCosts& costs, std::uint64_t limit);

}  // namespace assay::contracts
