// SPDX-License-Identifier: Apache-2.0
// The sorted bids and asks of a class, and the results of both rules on them, for the clearing (decision 86).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/base/wide.hpp"
#include "contracts/rules/market/clearing.hpp"

namespace assay::contracts {

/// A bid. Bids are served by price descending, then by what is owed descending, then by the tie's hash.
struct BookBid {
    std::uint64_t price = 0;
    std::uint64_t owed = 0;
    Hash256 tie;
    std::uint64_t lots = 0;
    std::size_t place = 0;  ///< in ClassMarket::bids
};

/// An ask. Asks are used by price ascending, then by the tie's hash. The price is at least the base price.
struct BookAsk {
    std::uint64_t price = 0;
    Hash256 tie;
    std::size_t place = 0;  ///< in ClassMarket::asks
};

bool served_before(const BookBid& left, const BookBid& right);
bool used_before(const BookAsk& left, const BookAsk& right);

/// The cost of the n cheapest lots, for every n. Sums stay below 2^63 lots times kAmountMax, which fits 128
/// bits.
class LotCosts {
public:
    /// `prices` ascending.
    explicit LotCosts(std::vector<std::uint64_t> prices);
    explicit LotCosts(const std::vector<BookAsk>& asks);

    [[nodiscard]] std::uint64_t count() const { return prices_.size(); }
    /// The price of the dearest of the n cheapest lots. REQUIRES 1 <= n <= count().
    [[nodiscard]] std::uint64_t dearest(std::uint64_t n) const { return prices_[n - 1]; }
    /// The sum of the prices of the n cheapest lots. REQUIRES n <= count().
    [[nodiscard]] base::Int128 sum(std::uint64_t n) const { return sums_[n]; }
    /// Whether a bid is for at least one lot, and pays each of its lots when others have the `used` cheapest.
    [[nodiscard]] bool fits(const BookBid& bid, std::uint64_t used) const {
        return bid.lots > 0 && bid.lots <= count() - used && bid.price >= dearest(used + bid.lots);
    }
    /// How many lots ask at most this.
    [[nodiscard]] std::uint64_t within(std::uint64_t price) const;

private:
    std::vector<std::uint64_t> prices_;
    std::vector<base::Int128> sums_;
};

/// A class in the orders in which it is cleared. Sorting, with a hash for each tie, is most of the cost of a
/// clearing, so callers with several questions about one class sort it once.
struct SortedClass {
    std::vector<BookBid> bids;
    std::vector<BookAsk> asks;
    std::uint64_t base_price = 0;

    explicit SortedClass(const ClassMarket& market);
};

/// The same functions as in clearing.hpp, for a class that is already sorted.
ClassOutcome clear_class(const SortedClass& sorted);
std::optional<Amount> critical_bid(const SortedClass& sorted, std::size_t bid);
std::optional<Amount> critical_ask(const SortedClass& sorted, std::size_t ask);

/// The results of both rules. Places are those in the sorted bids.
struct BothRules {
    std::vector<std::size_t> served;  ///< by the greedy rule, in its order
    std::uint64_t lots = 0;           ///< sold by the greedy rule
    base::Int128 worth = 0;           ///< of the greedy rule's sales
    std::optional<std::size_t>
        best;  ///< the bid that is worth most if it alone has the cheapest lots; the first of equal ones
    base::Int128 best_worth = 0;

    [[nodiscard]] ClearedBy rule() const {
        return best_worth > worth ? ClearedBy::kBestAlone : ClearedBy::kGreedy;
    }
};

/// REQUIRES sorted bids.
BothRules apply_both_rules(const std::vector<BookBid>& bids, const LotCosts& costs);

/// The least price, at most `limit`, at which `bid` wins against `others`, whatever its own price is. Nothing
/// when there is none. REQUIRES sorted bids.
std::optional<std::uint64_t> least_winning_price(std::vector<BookBid> others, BookBid bid,
                                                 const LotCosts& costs, std::uint64_t limit);

}  // namespace assay::contracts
