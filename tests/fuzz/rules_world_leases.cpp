// SPDX-License-Identifier: Apache-2.0
// Jobs that lease their machines: they wait for lots, begin, lose them and go on.
#include "contracts/rules/job/bidding.hpp"
#include "tests/fuzz/rules_world.hpp"

namespace assay::fuzz {

using namespace contracts;

void RulesWorld::help_waiting(const Job& job) {
    if (job.round == 0) enlist(job);
    if (job.round > 0) pass_to(block_.height);  // who was dropped at this height is back by no lease of it
    if (!chance(job.round > 0 ? 16 : 4)) trade();
    const auto now = read_job_progress(state_, job.id);
    if (now && now->phase == JobPhase::kRounds) {
        ++(job.round == 0 ? reached_.leased_starts : reached_.resumed);
    } else if (job.round > 0) {
        ++reached_.preempted;
        if (chance(8)) pass_to(job.phase_deadline);
    } else if (!chance(4)) {
        pass_to(last_of_enlistment(params_of(state_, job), job));
    }
}

}  // namespace assay::fuzz
