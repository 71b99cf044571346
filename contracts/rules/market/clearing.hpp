// SPDX-License-Identifier: Apache-2.0
// The clearing of one class of lots in one epoch (decision 86), for rules, simulator and audits. It is a pure
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

/// One job's bid: for all `lots` of them, or for nothing.
struct ClassBid {
    Hash256 job;
    std::uint32_t lots = 1;  ///< a bid for 0 lots wins nothing
    Amount price;            ///< the most it pays
    /// What its tenant was entitled to and did not get, in thousandths of a lot. The larger one wins a tie.
    std::uint64_t owed = 0;
};

/// One lot, and the least price for which its miner works.
struct ClassAsk {
    PublicKey node;
    Amount price;
};

/// Everything that the clearing of a class depends on. The order of bids and asks has no effect.
struct ClassMarket {
    Amount base_price;
    Hash256 seed;  ///< breaks ties; a hash over the salts of everything that was opened
    std::vector<ClassBid> bids;
    std::vector<ClassAsk> asks;
};

enum class ClearedBy : std::uint8_t { kGreedy = 1, kBestAlone = 2 };

/// One lot that is sold.
struct Match {
    std::size_t bid = 0;  ///< place in ClassMarket::bids
    std::size_t ask = 0;  ///< place in ClassMarket::asks
    Amount price;         ///< the price that the buyer pays and the seller gets
    friend bool operator==(const Match&, const Match&) = default;
};

struct ClassOutcome {
    ClearedBy rule = ClearedBy::kGreedy;
    /// Ascending by price, and by ask among those of one bid: the bid that pays least has the cheapest lots.
    std::vector<Match> matches;
    /// The lowest and the highest price of the lots sold; nothing when none was sold.
    std::optional<Amount> lowest;
    std::optional<Amount> highest;
};

/// Clears the class. REQUIRES that no two bids are of one job, and no two asks of one node.
ClassOutcome clear_class(const ClassMarket& market);

/// The least price at which the bid would have won, all else equal; for a winner it is what it pays. Nothing
/// when the bid wins at no price up to the largest amount, or when there is no such bid.
std::optional<Amount> critical_bid(const ClassMarket& market, std::size_t bid);
/// The highest price at which the ask would have been sold, all else equal. It would have been sold at each
/// lower price as well. Nothing when it is sold at no price, or when there is no such ask.
std::optional<Amount> critical_ask(const ClassMarket& market, std::size_t ask);

/// The base price of the next epoch. It moves by at most an eighth, rounded up, so that three quarters of the
/// offered lots are sold, and is never below `least`. It does not move when nothing was offered. `offered`
/// counts the lots that were sold and the others that asked at most the base price.
Amount next_base_price(Amount base_price, std::uint64_t sold, std::uint64_t offered, Amount least);

}  // namespace assay::contracts
