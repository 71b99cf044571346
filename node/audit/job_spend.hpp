// SPDX-License-Identifier: Apache-2.0
// Gives plans what a job will probably cost, beside the most that it can: the clearing prices of a ledger
// times the work that is paid, with those audits alone that are drawn on average.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/program/job_spec.hpp"
#include "contracts/rules/state/params.hpp"
#include "node/plan/interval.hpp"

namespace assay::node {

struct SpendTerms {
    std::vector<base::Amount> prices;  ///< cleared before; empty: the cap is what it will be
    double newcomer_share = 1;         ///< of slots, whose miners are audited always
    std::uint64_t slot_work = 0;       ///< work units of a slot's round
};

/// Base units of a work unit, never above the job's cap.
Interval80 unit_price(const program::JobSpec& spec, const SpendTerms& terms);

/// Base units from escrow for all rounds of the spec, every slot accepted, whatever the budget is: miners,
/// audits by one to three verifiers, merges. Audits of newcomers are paid out of their registration fees
/// first: the low end takes each slot to have a new miner with a whole fee, the high end none, and the median
/// stands in the middle of both. Without history the median is not a forecast of the price: it is the cap's.
Interval80 expected_spend(const program::JobSpec& spec, const contracts::Params& params,
                          const SpendTerms& terms);

}  // namespace assay::node
