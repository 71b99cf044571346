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
    if (in_roster || job.roster.size() >= contracts::kMaxAsks) return;
    if (job.auction.clearing_price < options_.ask || contracts::open_places(state(), job) == 0) return;
    if (options_.trade || leased_by(state(), me()) || !takes_on(job)) return;
    if (!locks_within_limits(job)) return;
    const contracts::Params params = contracts::params_of(state(), job);
    if (contracts::read_stake(state(), me()).free < contracts::bond_in(state(), params, job, me())) return;
    if (!can_keep(job)) return;
    // One worker works for one job at a time: whoever has a place, or asked for one, takes no second.
    if (is_working() || games_.computing() || has_place_beside(job.id)) return;
    if (!bench_.prepared(state(), job)) return;
    joining_ = job.id;
    offer("join job " + job.id.brief(), contracts::JobJoin{.job = job.id});
}

bool MinerRole::has_place_beside(const base::Hash256& id) {
    const auto jobs = contracts::list_active_jobs(state());
    return std::any_of(jobs.begin(), jobs.end(), [&](const base::Hash256& other) {
        const auto job = contracts::read_job(state(), other);
        if (!job || other == id || contracts::is_over(job->phase)) return false;
        return has_place(state(), *job, me()) ||
               (joining_ == other && contracts::open_places(state(), *job) > 0);
    });
}

}  // namespace assay::node
