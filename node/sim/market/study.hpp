// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench market` what our rule and McAfee's are worth over random classes, and what a seller
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
    std::uint64_t sellers = 1;  ///< of each market: that many tried, one at a time
    std::uint64_t prices = 16;  ///< that each tries, at most, beside the highest at which it is sold
};

/// Each number is over all markets of the plan; shares are of 1.
struct RuleStudy {
    double welfare = 0;        ///< of the best, on average
    double welfare_worst = 1;  ///< of the best, in the worst market
    double lots = 0;           ///< sold, of those that our rule sells
    double left_over = 0;      ///< of what buyers pay: that no seller gets
    double sellers_gain = 0;   ///< what tried sellers gain each alone, of what they earn by asking their cost
    double can_gain = 0;       ///< of the tried sellers: who gains at all
};

struct ClassStudy {
    double paying = 0;        ///< our welfare, of the best in which every bid pays its lots; on average
    double paying_worst = 1;  ///< and in the worst market
    RuleStudy ours;
    RuleStudy mcafee;
};

/// Sellers know all others' bids and asks, which sealed ones do not show: their gain is the most that anybody
/// has. Markets of which the best is worth nothing do not count.
ClassStudy study(const StudyPlan& plan);

}  // namespace assay::node::sim
