// SPDX-License-Identifier: Apache-2.0
// Jobs that lease their machines: lots come and go at random, without a market.
#include <algorithm>

#include "contracts/rules/conservation.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/round/leased.hpp"
#include "tests/contracts/rules/lots.hpp"
#include "tests/fuzz/rules_world.hpp"

namespace assay::fuzz {

using namespace contracts;

/// Lots at any price up to a little above the cap, for a while.
void RulesWorld::lease(const Job& job) {
    Overlay changes(state_);
    Work work(changes, block_);
    contracts::test::forget_leases(changes, job.id, block_.height);
    for (const Person& person : people_) {
        const PublicKey node = person.node.public_key();
        const auto leases = leases_at(changes, job.id, block_.height);
        const bool has =
            std::any_of(leases.begin(), leases.end(), [&](const Lease& held) { return held.node == node; });
        if (has || chance(4) || !read_miner(changes, node) || leases.size() >= job.spec.market.terms.most)
            continue;
        Lease lot;
        lot.node = node;
        lot.owner = person.owner.public_key();
        lot.job = job.id;
        lot.price = Amount::of(choose_(std::min<std::uint64_t>(job.spec.market.max_price.units(), 2'000) + 2))
                        .value();
        lot.epoch = lot.from = block_.height;
        lot.until = later(block_.height, 1 + choose_(40));
        contracts::test::grant_lease(changes, lot);
    }
    begin_if_leased(work, job.id);
    ASSAY_CHECK(check_changes(state_, changes).ok());
    changes.write_to(state_);
    note(work.events);
    check();
}

void RulesWorld::help_waiting(const Job& job) {
    if (job.round == 0) enlist(job);
    if (job.round > 0) pass_to(block_.height);  // who was dropped at this height is back by no lease of it
    if (!chance(job.round > 0 ? 16 : 4)) lease(job);
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
