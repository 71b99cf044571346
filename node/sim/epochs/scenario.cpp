// SPDX-License-Identifier: Apache-2.0
#include "node/sim/epochs/scenario.hpp"

#include <algorithm>
#include <array>

namespace assay::node::sim {

namespace {

constexpr std::array kScenarios = {
    MarketScenario{"truthful", "everybody bids and asks what a lot is worth to it", MarketPlay::kTruthful, 0},
    MarketScenario{"shading", "half of the buyers bid four fifths of that", MarketPlay::kShading, 0.5},
    MarketScenario{"sniping", "half of the buyers wait for what is left at the base price",
                   MarketPlay::kSniping, 0.5},
    MarketScenario{"ring", "half of the buyers are in rings of five, of whom one bids", MarketPlay::kRing,
                   0.5},
    MarketScenario{"wash", "a tenth of the owners of machines bid for lots of their own classes",
                   MarketPlay::kWash, 0.1},
    MarketScenario{"withholding", "a fifth of the owners of machines offer half of them",
                   MarketPlay::kWithholding, 0.2},
    MarketScenario{"spot-and-run", "a fifth of all seal, and half the time do not open, or withdraw",
                   MarketPlay::kSpotAndRun, 0.2},
};

}  // namespace

std::span<const MarketScenario> market_scenarios() { return kScenarios; }

const MarketScenario* find_market_scenario(std::string_view name) {
    const auto* found = std::find_if(kScenarios.begin(), kScenarios.end(),
                                     [&](const MarketScenario& one) { return one.name == name; });
    return found == kScenarios.end() ? nullptr : found;
}

}  // namespace assay::node::sim
