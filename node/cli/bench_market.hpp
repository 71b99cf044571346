// SPDX-License-Identifier: Apache-2.0
// Gives the bench commands what `assay bench market` measures: the time and the worth of the clearing of
// classes, compared with HiGHS on the same bids and asks, and how much sellers can gain, compared with
// McAfee's rule.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/bench_plan.hpp"
#include "node/sim/market/study.hpp"

namespace assay::node {

/// Times are processor time of one thread, which other load on the machine hardly affects.
struct MarketRow {
    std::string name;   ///< "clearing_ms"
    std::string shape;  ///< "1000x1000": bids, asks
    double value = 0;
    std::string unit;
    std::optional<double> limit;  ///< the most that is allowed
    std::string peer;             ///< its own name or, if it is missing, what it is and how to get it; empty:
                                  ///< no peer
    std::optional<double> peer_value;
    std::optional<double> ratio;  ///< above 1: ours is better

    /// Nothing when there is no limit.
    [[nodiscard]] std::optional<bool> met() const {
        return limit ? std::optional(value <= *limit) : std::nullopt;
    }
    template <class Visit>
    void fields(Visit& visit) const {
        visit("name", name);
        visit("shape", shape);
        visit("value", value);
        visit("unit", unit);
        visit("limit", limit);
        visit("met", met());
        visit("peer", peer);
        visit("peer_value", peer_value);
        visit("ratio", ratio);
    }
};

/// One rule over random classes of one family.
struct WelfareRow {
    std::string family, shape, rule;
    sim::StudyPlan plan;
    sim::RuleStudy found;
    std::optional<double> paying, paying_worst;  ///< of our rule

    template <class Visit>
    void fields(Visit& visit) const {
        visit("family", family);
        visit("shape", shape);
        visit("rule", rule);
        visit("markets", plan.markets);
        visit("first_seed", plan.first_seed);
        visit("welfare", found.welfare);
        visit("welfare_worst", found.welfare_worst);
        visit("paying", paying);
        visit("paying_worst", paying_worst);
        visit("lots", found.lots);
        visit("left_over", found.left_over);
        visit("sellers_tried", plan.markets * plan.sellers);
        visit("sellers_gain", found.sellers_gain);
        visit("can_gain", found.can_gain);
    }
};

struct MarketBench {
    std::vector<MarketRow> rows;
    std::vector<WelfareRow> welfare;
};

/// `note` gets progress messages. Errors: no temporary folder for the peer's input.
base::Outcome<MarketBench> bench_market(const BenchOptions& options,
                                        const std::function<void(const std::string&)>& note);

}  // namespace assay::node
