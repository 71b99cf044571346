// SPDX-License-Identifier: Apache-2.0
// Gives plans what a job will probably cost; the rules themselves say the most that it can. It is the
// clearing prices of a ledger times the work that is paid for, where as many audits are paid as are drawn on
// average.
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

/// Base units from escrow for all rounds of the spec, if every slot is accepted: miners, audits by one to
/// three verifiers, merges. The budget does not bound it.
/// Audits of newcomers are paid out of their registration fees first. The low end is what is left where each
/// slot has a new miner with a whole fee, the high end where none has, and the median is their middle.
/// Without prices of before, the cap stands for the price.
Interval80 expected_spend(const program::JobSpec& spec, const contracts::Params& params,
                          const SpendTerms& terms);

}  // namespace assay::node
