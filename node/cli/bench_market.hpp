// SPDX-License-Identifier: Apache-2.0
// Gives the bench commands what `assay bench market` measures: how long the clearing of classes takes and
// what it is worth, beside HiGHS on the same bids and asks, and how far sellers can gain, beside McAfee's
// rule.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/bench_plan.hpp"
#include "node/sim/market/study.hpp"

namespace assay::node {

/// Times are of the processor, of one thread: what else the machine does hardly touches them.
struct MarketRow {
    std::string name;   ///< "clearing_ms"
    std::string shape;  ///< "1000x1000": bids, asks
    double value = 0;
    std::string unit;
    std::optional<double> limit;  ///< the most that is allowed
    std::string peer;             ///< by its own name, or by what it would be and how to get it; empty: none
    std::optional<double> peer_value;
    std::optional<double> ratio;  ///< above 1: ours is better

    /// Nothing where there is no limit.
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

/// `note` hears what is measured. Errors: no temporary folder for what the peer reads.
base::Outcome<MarketBench> bench_market(const BenchOptions& options,
                                        const std::function<void(const std::string&)>& note);

}  // namespace assay::node
