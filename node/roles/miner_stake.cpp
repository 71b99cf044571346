// SPDX-License-Identifier: Apache-2.0
// How much of its stake and of its store a miner gives to a job: what its owner allows, and what other jobs
// leave.
#include <algorithm>

#include "contracts/program/kept_bytes.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/state/supply.hpp"
#include "node/roles/miner.hpp"
#include "node/roles/room_to_keep.hpp"
#include "node/roles/stake_needs.hpp"

namespace assay::node {

namespace {

using base::Amount;

/// What other jobs will want of the miner's free stake.
Amount spoken_for(const contracts::StateView& state, const base::Hash256& beside,
                  const base::PublicKey& miner) {
    Amount all;
    for (const StakeNeed& need : stake_needs(state, miner))
        if (need.job != beside) all = contracts::saturating_sum(all, need.amount);
    return all;
}

}  // namespace

bool MinerRole::locks_within_limits(const contracts::Job& job) {
    const auto most = contracts::most_locked(contracts::params_of(state(), job), job.spec, job.slot_work);
    if (!most) return false;  // the ledger refuses such a job
    // No more than all of the stake is ever dealt; what other jobs lock today may be free tomorrow.
    const contracts::Stake stake = contracts::read_stake(state(), me());
    const base::Amount round = std::min(most->round, stake.free.plus(stake.bonded).value_or(most->round));
    const bool within = most->slot <= options_.lock_slot && round <= options_.lock_job;
    if (weighed_.insert(job.id).second) {
        const std::string text = "job " + job.id.brief() + " can lock up to " + base::to_text(most->slot) +
                                 " of our stake for a slot, " + base::to_text(round) + " in all";
        if (within) {
            log().info(text);
        } else {
            log().warn(text + "; no ask: --lock-slot allows " + base::to_text(options_.lock_slot) +
                       ", --lock-job " + base::to_text(options_.lock_job));
        }
    }
    return within;
}

bool MinerRole::can_hold(const contracts::Job& job) {
    const Amount free = contracts::read_stake(state(), me()).free;
    const Amount others = spoken_for(state(), job.id, me());
    const Amount own = contracts::stake_to_ask(state(), contracts::params_of(state(), job), job, me());
    if (contracts::saturating_sum(own, others) <= free) return true;
    if (short_of_.insert(job.id).second) {
        log().warn("job " + job.id.brief() + " needs " + base::to_text(own) +
                   " of our stake for a slot; no ask: " + base::to_text(free) +
                   " is free, and other jobs may lock " + base::to_text(others) +
                   " of it; add to it with: assay stake add");
    }
    return false;
}

std::uint64_t MinerRole::most_kept(const contracts::Job& job) const {
    const contracts::Params params = contracts::params_of(state(), job);
    // It is dealt nothing below its ask.
    const Amount price = job.auction.clearing_price.is_zero() ? options_.ask : job.auction.clearing_price;
    const contracts::Stake stake = contracts::read_stake(state(), me());
    const std::uint64_t whole = contracts::saturating_sum(stake.free, stake.bonded).units();
    std::uint64_t claims = UINT64_MAX;
    for (const auto audited : {contracts::Audited::kAlways, contracts::Audited::kAtRate}) {
        const auto bond = contracts::slot_bond(params, job.spec, price, job.slot_work, audited);
        if (!bond) return UINT64_MAX;  // the ledger refuses such a job
        const std::uint64_t locked = bond->units();
        const std::uint64_t most = locked == 0 ? UINT64_MAX : whole / locked;
        claims = audited == contracts::Audited::kAlways ? most : std::max(claims, most);
    }
    return program::most_kept_by_miner(job.spec, params.claim_window, claims);
}

bool MinerRole::can_keep(const contracts::Job& job) {
    const auto why = no_room_to_keep(state(), job, me(), parts().files.room(),
                                     [this](const contracts::Job& one) { return most_kept(one); });
    if (why && no_room_.insert(job.id).second)
        log().warn("job " + job.id.brief() + " is not asked for a slot: " + *why);
    return !why;
}

}  // namespace assay::node
