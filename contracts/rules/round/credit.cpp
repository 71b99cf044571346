// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/credit.hpp"

#include <algorithm>

#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/standing.hpp"
#include "contracts/rules/market/measure.hpp"
#include "contracts/rules/round/seal_window.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

bool is_found_right(const SlotRound& slot) {
    switch (slot.verdict) {
        case Reason::kPaid:
        case Reason::kPaidDiverged: return true;
        case Reason::kPaidAccused: return slot.cleared;
        default: return false;
    }
}

/// A round that runs pays the audits of a newcomer's slots from its fee first, and gives back what is left.
bool is_audited_as_newcomer(const StateView& state, const Job& job, const PublicKey& miner) {
    if (job.phase != JobPhase::kRounds) return false;
    const auto slots = list_slots(state, job.id, job.round);
    return std::any_of(slots.begin(), slots.end(),
                       [&](const SlotRound& slot) { return slot.miner == miner && slot.newcomer; });
}

void credit_standing(State& state, const Job& job, const Claim& claim) {
    if (claim.standing_at != required(read_miner(state, claim.node)).losses) return;  // lost since, or none
    credit_work(state, claim.node, job);
    if (!is_audited_as_newcomer(state, job, claim.node))
        refund_fee(state, params_of(state, job), claim.node, job);
}

/// As the settlement measures a round in which the miner was accused of nothing.
void measure_late(State& state, Job& job, std::uint32_t number, const PublicKey& miner) {
    std::uint64_t held = 0;
    std::uint64_t last_commit = 0;
    for (const SlotRound& slot : list_slots(state, job.id, number)) {
        if (!slot.assigned || slot.miner != miner) continue;
        if (!is_found_right(slot)) return;
        ++held;
        last_commit = std::max(last_commit, slot.committed_at);
    }
    const std::uint64_t began = required(read_round_progress(state, job.id, number)).started_at;
    const base::Uint128 work = base::Uint128{job.slot_work} * held;
    RosterEntry& entry = roster_entry(job, miner);
    remember_speed(entry.speeds, params_of(state, job), measured_speed(work, last_commit - began));
    if (!is_of_buyer(state, job, entry.owner))
        note_speed(state, miner, job.spec.profile, work, last_commit - began);
}

}  // namespace

void note_earned(State& state, const PublicKey& node, Amount pay) {
    Miner miner = required(read_miner(state, node));
    miner.earned = saturating_sum(miner.earned, pay);
    store(state, miner_key(node), miner);
}

void refund_fee(State& state, const Params& params, const PublicKey& node, const JobTerms& job) {
    Miner miner = required(read_miner(state, node));
    if (is_of_buyer(state, job, miner.owner) || is_newcomer(state, params, node, job)) return;
    const Amount refund = miner.prepaid;
    miner.prepaid = {};
    store(state, miner_key(node), miner);
    pay_balance(state, miner.owner, refund, &Supply::prepaid);
}

void remember_speed(std::vector<std::uint64_t>& speeds, const Params& params, std::uint64_t speed) {
    speeds.push_back(speed);
    if (speeds.size() > params.speed_window) speeds.erase(speeds.begin());
}

void clear_slot(Work& work, const ClaimId& id, const Claim& claim) {
    State& state = work.state;
    SlotRound slot = required(read_slot(state, id.job, id.round, id.number));
    if (slot.verdict != Reason::kPaidAccused) return;
    slot.cleared = true;
    store(state, slot_key(id.job, id.round, id.number), slot);
    note_earned(state, claim.node, claim.held);
    Job job = required(read_job(state, id.job));
    credit_standing(state, job, claim);
    measure_late(state, job, id.round, claim.node);
    write_job(state, job);
}

}  // namespace assay::contracts
