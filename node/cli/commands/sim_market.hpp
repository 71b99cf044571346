// SPDX-License-Identifier: Apache-2.0
// Gives `assay sim run` its market: the market between jobs played on the real rules (docs/market.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/cli/context.hpp"
#include "node/sim/epochs/population.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace assay::node {

struct SimMarketFlags {
    std::vector<std::string> scenarios = {"all"};
    sim::MarketSize size;
    std::uint64_t seed = 1;
    std::uint32_t seeds = 1;
};

/// Adds --scenarios, --miners, --jobs, --epochs; `flags` must live as long as the app.
void add_sim_market_flags(CLI::App& verb, SimMarketFlags& flags);
/// Prints a row for each scenario and seed. kUsage for an unknown scenario or an invalid size.
base::Outcome<void> run_sim_market(const Context& context, const SimMarketFlags& flags);

}  // namespace assay::node
