// SPDX-License-Identifier: Apache-2.0
// Gives buyers the plan: what a job will cost, what is checked, and what cheating it would bring, before
// anything is paid. The same formulas as the rules use (contracts/rules/job/costs.hpp), at the job's price
// cap.
#pragma once

#include <cstdint>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/rules/state/params.hpp"

namespace assay::node {

struct JobPlan {
    std::uint64_t parameters = 0;
    std::uint64_t tokens = 0;     ///< trained on when every slot of every round is accepted
    std::uint64_t slot_work = 0;  ///< work units of one slot's round
    base::Amount slot_pay;        ///< of one slot's round
    base::Amount round_pay;       ///< of all slots of a round
    base::Amount round_cost;      ///< the most a round can take: pay, audits and merge by three verifiers
    base::Amount spend_max;       ///< of the whole job, never above the budget
    std::uint32_t rounds_covered = 0;  ///< rounds that the budget pays for even at their dearest
    base::Amount bond_newcomer;        ///< locked per slot, until its probation is over
    base::Amount bond_proven;
    double audit_rate = 0;     ///< of proven miners: the probability that one bad segment is recomputed
    double finalise_rate = 0;  ///< of proven miners: the probability that `finalise` is
    /// What cheating a slot brings over doing the work, on average, in base units: all pay saved and the gain
    /// bound, less, when it is found, the pay and the bond. Rounded up. Below zero: it
    /// does not pay.
    std::int64_t cheat_gain_newcomer = 0;
    std::int64_t cheat_gain_proven = 0;
};

/// REQUIRES a spec that check_spec accepts. kUsage, naming the key, when the ledger would refuse the job's
/// terms whatever its state is: an amount overflows, or the budget does not cover one round.
base::Outcome<JobPlan> plan_job(const program::JobSpec& spec, const contracts::Params& params);

}  // namespace assay::node
