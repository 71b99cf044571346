// SPDX-License-Identifier: Apache-2.0
// Gives measurements the exact optimum of a class of lots, by dynamic programming over lots.
#pragma once

#include <cstdint>

#include "contracts/base/wide.hpp"
#include "contracts/rules/market/clearing.hpp"

namespace assay::node::sim {

enum class Allowed : std::uint8_t {
    kAny,     ///< every set of bids on the cheapest lots
    kPaying,  ///< those in which every bid pays at least each ask that it uses
};

/// The greatest possible sum of price times lots less the asks. An ask counts as the larger of itself and the
/// base price. Takes bids × asks steps.
base::Int128 best_worth(const contracts::ClassMarket& market, Allowed allowed);
/// The same sum for what was sold.
base::Int128 worth_sold(const contracts::ClassMarket& market, const contracts::ClassOutcome& outcome);

}  // namespace assay::node::sim
