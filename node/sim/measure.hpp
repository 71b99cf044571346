// SPDX-License-Identifier: Apache-2.0
// Gives the simulator's command its rows: measure() plays a strategy for a number of rounds and counts the
// results.
#pragma once

#include <cstdint>
#include <string>

#include "contracts/base/error.hpp"
#include "node/sim/strategies.hpp"

namespace assay::node::sim {

struct SimOptions {
    std::uint64_t rounds = 200;  ///< trials of each strategy, in total alone and in a coalition
    std::uint64_t seed = 1;
    std::uint32_t seeds = 1;     ///< number of worlds over which the trials are spread: seed, seed + 1, …
    double compute_share = 0.9;  ///< cost of honest work as a share of its pay
};

/// A line of the report. Profits are for one trial, in units of one slot's pay.
struct SimRow {
    std::string strategy;
    std::string level = "role";
    std::uint32_t seeds = 0;
    std::uint64_t rounds = 0;  ///< trials that were counted
    double predicted = 0;
    double measured = 0;
    double low = 0;
    double high = 1;
    double profit_one = 0;
    double profit_third = 0;
    std::uint64_t honest_forfeits = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("strategy", strategy);
        visit("level", level);
        visit("seeds", seeds);
        visit("rounds", rounds);
        visit("predicted", predicted);
        visit("measured", measured);
        visit("low", low);
        visit("high", high);
        visit("profit_one", profit_one);
        visit("profit_third", profit_third);
        visit("honest_forfeits", honest_forfeits);
    }
};

/// kFailure when a role of the simulation ends or nothing moves any more.
base::Outcome<SimRow> measure(const CheatRow& strategy, const SimOptions& options);

}  // namespace assay::node::sim
