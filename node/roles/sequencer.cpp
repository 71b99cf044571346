// SPDX-License-Identifier: Apache-2.0
#include "node/roles/sequencer.hpp"

#include <algorithm>

#include "contracts/rules/job/costs.hpp"
#include "node/roles/beacon_keeper.hpp"

namespace assay::node {

void SequencerRole::plan() {
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        const auto job = contracts::read_job(state(), id);
        const base::Hash256 secret = beacon_secret(parts().node_key, id.view());
        const bool bidding = job->phase == contracts::JobPhase::kAskCommit ||
                             job->phase == contracts::JobPhase::kAskReveal ||
                             (job->phase == contracts::JobPhase::kWaiting && job->round == 0);
        const bool member = std::any_of(job->beacon.begin(), job->beacon.end(),
                                        [&](const auto& entry) { return entry.node == me(); });
        if (bidding && !member && covers(*job)) {
            offer("enlist sequencer for " + id.brief(),
                  contracts::ValidatorEnlist{.job = id,
                                             .beacon_tip = contracts::chain_tip(secret, job->spec.rounds)});
        }
        keep_beacon(state(), *job, me(), secret, [this](const std::string& name, contracts::Payload payload) {
            offer(name, std::move(payload));
        });
    }
}

bool SequencerRole::covers(const contracts::Job& job) {
    const contracts::Params params = contracts::params_of(state(), job);
    const auto bond = contracts::link_bond(params, job.spec, job.slot_work);
    if (!bond) return false;
    if (*bond <= contracts::read_stake(state(), me()).free) return true;
    if (left_alone_.insert(job.id).second)
        log().warn(
            "job " + job.id.brief() + " asks members of its beacon to lock " + base::to_text(*bond) +
            "; this node's free stake does not cover that, and it opens no links there; add to it with: "
            "assay stake add");
    return false;
}

}  // namespace assay::node
