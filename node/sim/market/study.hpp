// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench market` the worth of our rule and of McAfee's over random classes, and what a seller
// gains that asks more than its cost.
#pragma once

#include <cstdint>

#include "node/sim/market/random_class.hpp"

namespace assay::node::sim {

struct StudyPlan {
    MarketFamily family = MarketFamily::kGangs;
    ClassSize size;
    std::uint64_t first_seed = 1;
    std::uint64_t markets = 1;
    std::uint64_t sellers = 1;  ///< number of sellers of each market that are tried, one at a time
    std::uint64_t prices = 16;  ///< the most prices that each tries, in addition to the highest at which it
                                ///< is sold
};

/// Each number is over all markets of the plan. Shares are from 0 to 1.
struct RuleStudy {
    double welfare = 0;        ///< mean share of the best
    double welfare_worst = 1;  ///< share of the best in the worst market
    double lots = 0;           ///< lots sold, as a share of those that our rule sells
    double left_over = 0;      ///< share of what buyers pay that no seller gets
    double sellers_gain = 0;   ///< what tried sellers gain, each alone, as a share of what they earn by
                               ///< asking their cost
    double can_gain = 0;       ///< share of the tried sellers that gain at all
};

struct ClassStudy {
    double paying = 0;        ///< mean share of our welfare in the best in which every bid pays its lots
    double paying_worst = 1;  ///< the same in the worst market
    RuleStudy ours;
    RuleStudy mcafee;
};

/// Sellers are assumed to know all other bids and asks, which sealed ones do not show, so their gain is an
/// upper bound. Markets whose best is worth nothing do not count.
ClassStudy study(const StudyPlan& plan);

}  // namespace assay::node::sim
