// SPDX-License-Identifier: Apache-2.0
// Gives plans what a job will probably cost; the rules give the most that it can cost. The estimate is the
// clearing prices of a ledger times the paid work, with as many audits as are drawn on average.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/program/job_spec.hpp"
#include "contracts/rules/state/params.hpp"
#include "node/plan/interval.hpp"

namespace assay::node {

struct SpendTerms {
    std::vector<base::Amount> prices;  ///< earlier clearing prices; empty: the cap is used
    double newcomer_share = 1;         ///< share of slots whose miners are always audited
    std::uint64_t slot_work = 0;       ///< work units of a slot's round
};

/// Price of a work unit in base units, never above the job's cap.
Interval80 unit_price(const program::JobSpec& spec, const SpendTerms& terms);

/// Base units from escrow for all rounds of the spec, if every slot is accepted: miners, audits by one to
/// three verifiers, merges. The budget does not bound it.
/// Audits of newcomers are paid out of their registration fees first. The low end assumes that each slot has
/// a new miner with a whole fee, the high end that none has; the median is their middle. Without earlier
/// prices, the cap stands for the price.
Interval80 expected_spend(const program::JobSpec& spec, const contracts::Params& params,
                          const SpendTerms& terms);

}  // namespace assay::node
