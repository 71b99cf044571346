// SPDX-License-Identifier: Apache-2.0
// Gives the simulator of the market its scenarios: who bids and asks something else than what a lot is worth
// to it (docs/market.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace assay::node::sim {

/// How a buyer or a miner plays. The seed draws the share of players.
enum class MarketPlay : std::uint8_t {
    kTruthful,
    kShading,  ///< buyers bid four fifths of what a lot is worth to them
    kSniping,  ///< buyers do not bid, and take what the clearing left at the base price
    kRing,     ///< buyers of a class agree: of each five, only the one to which lots are worth most bids
    kWash,  ///< owners of machines bid for lots of their own class at twice the cost of their own, to raise
            ///< its price
    kWithholding,  ///< owners of several machines offer half of them
    kSpotAndRun,   ///< half of the players seal and do not open, and withdraw lots after the clearing
};

struct MarketScenario {
    std::string_view name;
    std::string_view words;  ///< one line for --help and docs/market.md
    MarketPlay play = MarketPlay::kTruthful;
    double share = 0;  ///< share of the buyers, or of the owners of machines, that play so
};

std::span<const MarketScenario> market_scenarios();
/// Null when there is no such scenario.
const MarketScenario* find_market_scenario(std::string_view name);

}  // namespace assay::node::sim
