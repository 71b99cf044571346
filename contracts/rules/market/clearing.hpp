// SPDX-License-Identifier: Apache-2.0
// Gives rules, simulator and audits the clearing of one class of lots in one epoch (decision 86): a pure
// function of bids, asks, base price and seed. Prices are base units per work unit; a lot is one machine for
// one epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/base/amount.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;
using base::PublicKey;

/// One job's bid: `lots` of them, or nothing.
struct ClassBid {
    Hash256 job;
    std::uint32_t lots = 1;  ///< a bid for none wins nothing
    Amount price;            ///< the most it pays
    /// What its tenant was entitled to and did not get, in thousandths of a lot: ties go to the larger.
    std::uint64_t owed = 0;
};

/// One lot, and the least its miner works for.
struct ClassAsk {
    PublicKey node;
    Amount price;
};

/// All that the clearing of a class depends on. The order of bids and asks says nothing.
struct ClassMarket {
    Amount base_price;
    Hash256 seed;  ///< breaks ties: over the salts of all that was opened
    std::vector<ClassBid> bids;
    std::vector<ClassAsk> asks;
};

enum class ClearedBy : std::uint8_t { kGreedy = 1, kBestAlone = 2 };

/// One lot that is sold.
struct Match {
    std::size_t bid = 0;  ///< place in ClassMarket::bids
    std::size_t ask = 0;  ///< place in ClassMarket::asks
    Amount price;         ///< that the buyer pays and the seller gets
    friend bool operator==(const Match&, const Match&) = default;
};

struct ClassOutcome {
    ClearedBy rule = ClearedBy::kGreedy;
    /// Ascending by price, and by ask among those of one bid: who pays least has the cheapest lots.
    std::vector<Match> matches;
    /// Of the lots sold: the least and the highest price; nothing where none was.
    std::optional<Amount> lowest;
    std::optional<Amount> highest;
};

/// REQUIRES that no two bids are of one job, and no two asks of one node.
ClassOutcome clear_class(const ClassMarket& market);

/// The least price at which the bid would have won, all else equal; nothing: at no price up to the largest
/// amount. Of a winner, what it pays. Nothing for a place that is none.
std::optional<Amount> critical_bid(const ClassMarket& market, std::size_t bid);
/// The highest price at which the ask would have been sold, all else equal; nothing: at none. At each price
/// below, it would have been sold as well. Nothing for a place that is none.
std::optional<Amount> critical_ask(const ClassMarket& market, std::size_t ask);

/// The base price of the next epoch: by at most an eighth, rounded up, toward three quarters of the offered
/// lots sold, and never below `least`. It stays where nothing was offered. `offered`: the lots that were
/// sold, and the others that asked at most the base price.
Amount next_base_price(Amount base_price, std::uint64_t sold, std::uint64_t offered, Amount least);

}  // namespace assay::contracts
