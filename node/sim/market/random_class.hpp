// SPDX-License-Identifier: Apache-2.0
// Gives measurements and the simulator random classes of lots, from documented families (docs/market.md).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "contracts/rules/market/clearing.hpp"

namespace assay::node::sim {

/// Asks are uniform over [500, 2500], bids over [500, 3500], unless a family says otherwise.
enum class MarketFamily : std::uint8_t {
    kOneLot,  ///< each bid is for one lot
    kGangs,   ///< gangs of 1, 2, 4, 8 and 16 lots, each size half as often as the one before
    kHeavy,   ///< as kGangs, but prices have a heavy tail, and one bid in ten wants up to a quarter of all
              ///< lots
    kFloor,   ///< as kGangs, with a base price of 2000
};

inline constexpr MarketFamily kFamilies[] = {MarketFamily::kOneLot, MarketFamily::kGangs,
                                             MarketFamily::kHeavy, MarketFamily::kFloor};
std::string_view to_text(MarketFamily family);

struct ClassSize {
    std::size_t bids = 0;
    std::size_t asks = 0;
};

/// Gives the same class for the same seed everywhere. Gangs grow with the number of lots for each bid.
contracts::ClassMarket random_class(MarketFamily family, ClassSize size, std::uint64_t seed);

}  // namespace assay::node::sim
