// SPDX-License-Identifier: Apache-2.0
// Gives the simulator's command the market played on the real rules: epochs in which machines are offered and
// jobs bid, and what came of it (docs/market.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/sim/epochs/population.hpp"
#include "node/sim/epochs/scenario.hpp"

namespace assay::node::sim {

/// What an epoch came to, over all classes; for plots.
struct EpochFigures {
    std::uint32_t epoch = 0;
    std::uint32_t offered = 0;  ///< lots
    std::uint32_t wanted = 0;   ///< lots of bids
    std::uint32_t sold = 0;     ///< lots, instant leases among them
    double price = 0;           ///< mean of the lots sold, in base units per work unit; 0: none
    double base_price = 0;      ///< mean over the classes

    template <class Visit>
    void fields(Visit& visit) const {
        visit("epoch", epoch);
        visit("offered", offered);
        visit("wanted", wanted);
        visit("sold", sold);
        visit("price", price);
        visit("base_price", base_price);
    }
};

/// A line of the report.
struct EpochsRow {
    std::string scenario;
    std::uint64_t seed = 0;
    std::uint32_t miners = 0;
    std::uint32_t jobs = 0;
    std::uint32_t epochs = 0;
    double clearing_ms = 0;     ///< of the dearest epoch's block that clears, of the processor: all classes,
                                ///< with reads, leases, deposits, invariants and the state's tree
    double epoch_ms = 0;        ///< of the dearest epoch: every transaction of it too, signatures included
    double welfare_ratio = 0;   ///< of the best fractional allocation at true values and costs, gangs ignored
    double revenue = 0;         ///< of all lots sold, in ASY for a work unit of each
    double price_sd = 0;        ///< of an epoch's mean price, over its mean
    double jain = 0;            ///< Jain's index over tenants: lots received of lots asked for
    std::uint32_t starved = 0;  ///< jobs that were willing to pay what lots cost and never had one
    std::uint64_t transactions = 0;
    double gain =
        0;  ///< of those who play, over what the same earn in the truthful market, as a share of that
    std::vector<EpochFigures> course;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("scenario", scenario);
        visit("seed", seed);
        visit("miners", miners);
        visit("jobs", jobs);
        visit("epochs", epochs);
        visit("clearing_ms", clearing_ms);
        visit("epoch_ms", epoch_ms);
        visit("welfare_ratio", welfare_ratio);
        visit("revenue", revenue);
        visit("price_sd", price_sd);
        visit("jain", jain);
        visit("starved", starved);
        visit("transactions", transactions);
        visit("gain", gain);
        visit("course", course);
    }
};

/// Plays the scenario, and the truthful market of the same people beside it. kFailure when the rules refuse
/// what they must take, or an invariant does not hold at the end.
base::Outcome<EpochsRow> play_market(const MarketScenario& scenario, const MarketSize& size,
                                     std::uint64_t seed);

}  // namespace assay::node::sim
