// SPDX-License-Identifier: Apache-2.0
// Gives the tests of the market random small classes, and decision 86 word for word: slow, with no search but
// halving over all amounts, and no sum that is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/base/wide.hpp"
#include "contracts/rules/market/clearing.hpp"

namespace assay::contracts::test {

/// SplitMix64 (Steele, Lea, Flood): the same numbers from the same seed everywhere.
class MarketNumbers {
public:
    explicit MarketNumbers(std::uint64_t seed) : state_(seed) {}
    std::uint64_t word();
    /// In [low, high].
    std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + word() % (high - low + 1); }

private:
    std::uint64_t state_;
};

struct SmallShape {
    std::size_t most_bids = 6;
    std::size_t most_asks = 9;
    std::uint64_t most_lots = 4;      ///< of a bid
    std::uint64_t highest_price = 0;  ///< of bids; asks and base price: below it
};

/// A class with ties, gangs, none of a side, and a base price that binds in half of them.
ClassMarket small_market(MarketNumbers& numbers, const SmallShape& shape);
/// Shapes of every kind by turns: prices that all tie, prices of up to the largest amount.
SmallShape some_shape(MarketNumbers& numbers);

struct ReferenceOutcome {
    ClearedBy rule = ClearedBy::kGreedy;
    std::vector<std::size_t> winners;  ///< places of bids, in the order of serving
    std::uint64_t lots = 0;
    base::Int128 worth = 0;
    [[nodiscard]] bool wins(std::size_t bid) const;
};

/// What an ask counts as.
std::uint64_t counted(const ClassMarket& market, const ClassAsk& ask);
/// Places of the asks, cheapest first.
std::vector<std::size_t> asks_in_order(const ClassMarket& market);
ReferenceOutcome reference_outcome(const ClassMarket& market);
bool reference_sells(const ClassMarket& market, std::size_t ask);
std::optional<Amount> reference_critical_bid(ClassMarket market, std::size_t bid);
std::optional<Amount> reference_critical_ask(ClassMarket market, std::size_t ask);

/// Price times lots less the asks, over everything that was sold.
base::Int128 worth_of(const ClassMarket& market, const ClassOutcome& outcome);

struct Optimum {
    base::Int128 paying = 0;  ///< of the allocations in which every bid pays at least each ask that it uses
    base::Int128 any = 0;     ///< of all
};
/// Tries every set of bids. REQUIRES at most 20 of them.
Optimum optimum_of(const ClassMarket& market);

}  // namespace assay::contracts::test
