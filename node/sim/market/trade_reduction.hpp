// SPDX-License-Identifier: Apache-2.0
// Gives the simulator McAfee's trade reduction ("A dominant strategy double auction", 1992) as a rule to hold
// ours against: neither side gains by a misreport, and money is left over that nobody gets.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/wide.hpp"
#include "contracts/rules/market/clearing.hpp"

namespace assay::node::sim {

struct ReducedTrade {
    std::uint64_t buyers_pay = 0;   ///< a lot
    std::uint64_t sellers_get = 0;  ///< a lot
    std::vector<bool> sold;         ///< by ask
    std::uint64_t lots = 0;
    base::Int128 worth = 0;
    base::Int128 left_over = 0;
};

/// Bids are served as by our greedy rule, up to the first that does not fit. Where all are for one lot,
/// McAfee's price between the first on either side that is left out is taken if all that trade bear it.
/// Otherwise the last bid served is left out again: the others pay its price, and sellers get the ask of its
/// first lot. Nothing is traded with fewer than three bids or asks.
ReducedTrade reduce_trade(const contracts::ClassMarket& market);

}  // namespace assay::node::sim
