// SPDX-License-Identifier: Apache-2.0
// Gives `plan` the machines that a job leases: which classes of lots suit it, on which of their devices its
// step fits, what they cost by the ledger's clearings, and how long a gang would have waited for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contracts/program/job_spec.hpp"
#include "node/audit/step_memory.hpp"
#include "node/plan/interval.hpp"
#include "node/views/lot_class.hpp"
#include "node/views/market_view.hpp"
#include "node/views/market_wait.hpp"

namespace assay::node {

/// A class of lots that the job's terms take.
struct PlannedClass {
    ClassView stand;
    std::vector<std::string> fits;     ///< devices on which a step fits in every machine of the class
    std::uint64_t clearings = 0;       ///< kept clearings that sold or leased lots
    std::optional<Interval80> prices;  ///< in those clearings, base units of a work unit
    bool above_cap = false;            ///< its next base price is above the job's cap

    template <class Visit>
    void fields(Visit& visit) const {
        stand.fields(visit);
        visit("fits", fits);
        visit("clearings", clearings);
        visit("prices", prices);
        visit("above_cap", above_cap);
    }
};

struct LeasePlan {
    std::uint32_t gang = 0, most = 0;
    std::vector<PlannedClass> classes;
    /// Lots that stand or are left now, in classes whose base price the job pays. A gang comes from one
    /// class.
    LotsByClass payable;
    std::optional<WaitView> wait;  ///< for a gang, at the job's cap; nothing when no ledger was asked

    template <class Visit>
    void fields(Visit& visit) const {
        visit("gang", gang);
        visit("most", most);
        visit("classes", classes);
        visit("largest_class", wait ? std::optional(largest_class(payable)) : std::nullopt);
        visit("wait", wait);
    }
};

/// Nothing for a job with its own auction. `state` null: no ledger was asked.
std::optional<LeasePlan> lease_plan(const program::JobSpec& spec, const contracts::StateView* state,
                                    std::uint64_t height);
/// Rows of `plan`'s table.
std::vector<std::pair<std::string, std::string>> lease_fields(const LeasePlan& plan);

}  // namespace assay::node
