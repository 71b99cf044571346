// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/round/leased.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// One change of phase, if one is due.
bool advance_once(Work& work, Job& job) {
    if (is_over(job.phase)) return false;
    if (job.phase == JobPhase::kRounds) return advance_round(work, job);
    // Nobody can know that all asks are in, nor all who would join: these windows run to their end.
    const bool over = work.block.height > job.phase_deadline;
    if (job.phase == JobPhase::kWaiting) return (over || may_go_on(work, job)) && end_wait(work, job);
    if (!over) return false;
    if (job.phase == JobPhase::kRefill || close_bidding_phase(work, job)) start_round(work, job);
    return true;
}

}  // namespace

void advance_job(Work& work, const Hash256& id) {
    // Most messages end no phase: then nothing else of the job is read.
    const JobProgress progress = required(read_job_progress(work.state, id));
    if (progress.phase == JobPhase::kRounds && !is_phase_over(work, id, progress.round)) return;
    auto job = read_job(work.state, id);
    ASSAY_CHECK(job.has_value());
    int transitions = 0;
    while (advance_once(work, *job)) ASSAY_CHECK(++transitions <= kMaxTransitions);
    write_job(work.state, *job);  // a wait that goes on has another deadline
}

}  // namespace assay::contracts
