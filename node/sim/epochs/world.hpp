// SPDX-License-Identifier: Apache-2.0
// Gives the simulator's command play_market(), which plays the market on the real rules: epochs in which
// machines are offered and jobs bid, and their results (docs/market.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/sim/epochs/population.hpp"
#include "node/sim/epochs/scenario.hpp"

namespace assay::node::sim {

/// The result of an epoch over all classes, for plots.
struct EpochFigures {
    std::uint32_t epoch = 0;
    std::uint32_t offered = 0;  ///< lots
    std::uint32_t wanted = 0;   ///< lots of bids
    std::uint32_t sold = 0;     ///< lots, including instant leases
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
    double clearing_ms = 0;     ///< processor time of the slowest epoch's clearing block: all classes,
                                ///< with reads, leases, deposits, invariants and the state's tree
    double epoch_ms = 0;        ///< of the slowest epoch: also all its transactions, including the check of
                                ///< signatures
    double welfare_ratio = 0;   ///< share of the best fractional allocation at true values and costs, without
                                ///< gangs
    double revenue = 0;         ///< for all lots sold, in ASY for one work unit of each
    double price_sd = 0;        ///< standard deviation of the epochs' mean prices, divided by their mean
    double jain = 0;            ///< Jain's index over tenants of lots received / lots asked for
    std::uint32_t starved = 0;  ///< jobs that would have paid what lots cost but never had one
    std::uint64_t transactions = 0;
    double gain = 0;  ///< extra profit of those who play, as a share of what they earn in the truthful market
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

/// Plays the scenario and, for comparison, the truthful market of the same participants. kFailure when the
/// rules refuse a valid transaction, or an invariant does not hold at the end.
base::Outcome<EpochsRow> play_market(const MarketScenario& scenario, const MarketSize& size,
                                     std::uint64_t seed);

}  // namespace assay::node::sim
