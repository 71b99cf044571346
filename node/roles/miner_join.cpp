// SPDX-License-Identifier: Apache-2.0
// How a miner takes a place that others left in a job that runs.
#include "contracts/rules/job/roster.hpp"
#include "node/roles/miner.hpp"

namespace assay::node {

// A joiner's first absence costs it a part of its bond, so that it asks for the place when data and base are
// here and the worker has the job open, and not before.
void MinerRole::plan_join(const contracts::Job& job) {
    const bool in_roster = std::any_of(job.roster.begin(), job.roster.end(),
                                       [this](const auto& entry) { return entry.node == me(); });
    if (in_roster || contracts::open_places(state(), job) == 0) return;
    if (job.auction.clearing_price < options_.ask || !locks_within_limits(job)) return;
    const contracts::Params params = contracts::params_of(state(), job);
    if (contracts::read_stake(state(), me()).free < contracts::bond_in(state(), params, job, me())) return;
    // The worker of a miner that holds slots elsewhere is not free to look at another job.
    if (training_ || making_base_ || holds_slots()) return;
    if (bench_.ready(state(), job)) offer("join job " + job.id.brief(), contracts::JobJoin{.job = job.id});
}

bool MinerRole::holds_slots() {
    const auto jobs = contracts::list_active_jobs(state());
    return std::any_of(jobs.begin(), jobs.end(), [this](const base::Hash256& id) {
        const auto progress = contracts::read_job_progress(state(), id);
        if (!progress || progress->phase != contracts::JobPhase::kRounds) return false;
        const auto slots = contracts::list_slots(state(), id, progress->round);
        return std::any_of(slots.begin(), slots.end(), [this](const contracts::SlotRound& slot) {
            return slot.assigned && slot.miner == me() && !slot.committed;
        });
    });
}

}  // namespace assay::node
