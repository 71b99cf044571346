// SPDX-License-Identifier: Apache-2.0
// Gives the simulator McAfee's trade reduction ("A dominant strategy double auction", 1992), for comparison
// with our rule: neither side gains by a misreport, but money is left over that nobody gets.
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

/// Serves bids as our greedy rule does, up to the first that does not fit. When all bids are for one lot,
/// takes McAfee's price, which lies between the first bid and the first ask that are left out, if all that
/// trade bear it. Otherwise leaves out the last bid served too: the others pay its price, and sellers get the
/// ask of its first lot. Nothing is traded with fewer than three bids or asks.
ReducedTrade reduce_trade(const contracts::ClassMarket& market);

}  // namespace assay::node::sim
