// SPDX-License-Identifier: Apache-2.0
#include "node/roles/stake_needs.hpp"

#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/state/supply.hpp"

namespace assay::node {

namespace {

using base::Amount;

/// At what price a job may deal the member a slot; nothing: it leases its machines, and has no lot of this
/// one.
std::optional<Amount> price_to_come(const contracts::StateView& state, const contracts::Job& job,
                                    const base::PublicKey& miner) {
    if (!job.leases()) return job.auction.clearing_price;
    std::optional<Amount> highest;
    for (const contracts::Lease& lease : contracts::list_leases(state, job.id))
        if (lease.node == miner) highest = std::max(highest.value_or(Amount{}), lease.price);
    return highest;
}

/// What a job of which the miner is a member may lock for a slot, and has not locked.
Amount still_to_lock(const contracts::StateView& state, const contracts::Job& job,
                     const base::PublicKey& miner) {
    const auto price = price_to_come(state, job, miner);
    if (!price) return {};
    const Amount bond = contracts::bond_at(state, contracts::params_of(state, job), job, miner, *price);
    Amount locked;
    contracts::for_each_claim_of(state, job.id, miner, contracts::ClaimKind::kSlot,
                                 [&](const contracts::ClaimId& id) {
                                     if (const auto claim = contracts::read_claim(state, id))
                                         locked = contracts::saturating_sum(locked, claim->bond);
                                     return locked < bond;
                                 });
    return bond.minus(locked).value_or(Amount{});
}

/// What one job wants.
Amount need_of(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& miner) {
    const bool member = std::any_of(job.roster.begin(), job.roster.end(),
                                    [&](const auto& entry) { return entry.node == miner && !entry.dropped; });
    const bool bidding =
        job.phase == contracts::JobPhase::kAskCommit || job.phase == contracts::JobPhase::kAskReveal;
    Amount need;
    if (member) need = still_to_lock(state, job, miner);
    if (bidding && contracts::read_ask(state, job.id, miner))
        need = contracts::saturating_sum(need, bond_at_cap(state, job, miner));
    return need;
}

}  // namespace

Amount bond_at_cap(const contracts::StateView& state, const contracts::Job& job,
                   const base::PublicKey& miner) {
    return contracts::bond_at(state, contracts::params_of(state, job), job, miner, job.spec.market.max_price);
}

std::vector<StakeNeed> stake_needs(const contracts::StateView& state, const base::PublicKey& miner) {
    std::vector<StakeNeed> needs;
    if (!contracts::read_miner(state, miner)) return needs;
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        if (!job || contracts::is_over(job->phase)) continue;
        const Amount need = need_of(state, *job, miner);
        if (!need.is_zero()) needs.push_back({id, need});
    }
    return needs;
}

}  // namespace assay::node
