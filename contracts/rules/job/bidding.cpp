// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/bidding.hpp"

#include <utility>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/identity/team.hpp"
#include "contracts/rules/job/auction.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/leaving.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

void unschedule(State& state, const Hash256& id, JobProgress& job) {
    if (job.due != 0) state.erase(deadline_key({job.due, DueKind::kJob, id}));
    job.due = 0;
}

template <class Change>
void count_active(State& state, Change change) {
    Meta meta = read_meta(state);
    change(meta.active_jobs);
    store(state, meta_key(), meta);
}

/// The deposit of an ask that could not have won, and the ask stays as it was opened.
void burn_deposit(Work& work, const Job& job, Ask& ask, Reason reason) {
    if (ask.deposit.is_zero()) return;
    work.tell({.kind = EventKind::kLost,
               .job = job.id,
               .node = ask.miner,
               .reason = reason,
               .amount = ask.deposit});
    Miner miner = *read_miner(work.state, ask.miner);
    miner.forfeited = saturating_sum(miner.forfeited, ask.deposit);
    store(work.state, miner_key(ask.miner), miner);
    move_total(work.state, &Supply::deposits, &Supply::burned, ask.deposit);
    ask.deposit = {};
}

/// What stands behind an ask when the auction is held.
struct Cover {
    bool is_free = false;   ///< the bond of a slot at the cap is free, with the deposit that comes back
    bool is_there = false;  ///< it is there, with what other jobs have locked since the ask was sealed
};

Cover cover_of(const Work& work, const Params& params, const Job& job, const Ask& ask) {
    if (read_node_key(work.state, ask.miner)->revoked) return {};
    const Amount bond = bond_at(work.state, params, job, ask.miner, job.spec.market.max_price);
    const Stake stake = read_stake(work.state, ask.miner);
    const Amount free = saturating_sum(stake.free, ask.deposit);
    return {free >= bond, saturating_sum(free, stake.bonded) >= bond};
}

/// Takes or returns the deposit of each ask, and returns what takes part in the auction. An ask that holds a
/// seat without a chance to win loses its deposit like one that stays closed: seats are few. One whose stake
/// another job has locked meanwhile does not take part, and loses nothing.
std::vector<Offer> take_offers(Work& work, const Job& job, const std::vector<Ask>& asks) {
    const Params params = params_of(work.state, job);
    std::vector<Offer> offers;
    for (Ask ask : asks) {
        const Cover cover = ask.revealed ? cover_of(work, params, job, ask) : Cover{};
        if (ask.revealed) offers.push_back({ask.miner, ask.price, cover.is_free});
        if (!ask.revealed) {
            burn_deposit(work, job, ask, Reason::kAskNotRevealed);
        } else if (ask.price > job.spec.market.max_price) {
            burn_deposit(work, job, ask, Reason::kAskAboveCap);
        } else if (!cover.is_there) {
            burn_deposit(work, job, ask, Reason::kAskWithoutBond);
        } else if (!ask.deposit.is_zero()) {
            give_free(work.state, ask.miner, std::exchange(ask.deposit, Amount{}), &Supply::deposits);
        }
        store_changed(work.state, ask_key(job.id, ask.miner), ask);
    }
    return offers;
}

void clear(Work& work, Job& job, const std::vector<Ask>& asks) {
    const std::vector<Offer> offers = take_offers(work, job, asks);
    AuctionResult result =
        clear_auction(tie_seed(job.id, asks), job.spec.market.max_price, job.spec.slots, offers);
    result.outcome.asks_sealed = job.auction.asks_sealed;
    job.auction = result.outcome;
    for (const std::size_t place : result.winners) {
        RosterEntry entry;
        entry.node = offers[place].miner;
        entry.owner = read_miner(work.state, entry.node)->owner;
        entry.ask = offers[place].price;
        job.roster.push_back(std::move(entry));
    }
    work.tell({.kind = EventKind::kAuctionCleared,
               .job = job.id,
               .amount = job.auction.clearing_price,
               .number = job.auction.winners});
}

/// A member's own part of what its job took is what the job used up first: the sponsor's top-ups come back
/// before it, and give no room.
void give_room_back(State& state, const Job& job, Amount bond_back) {
    const Amount part = job.additions.by_member;
    if (part.is_zero()) return;
    const Params params = params_of(state, job);
    const auto fee = job_fee(params, job.spec);
    const auto bond = link_bond(params, job.spec, job.slot_work);
    ASSAY_CHECK(fee && bond);  // the job was refused otherwise
    // Penalties may have brought the escrow more than was put in.
    const Amount used = job.whole_budget().minus(job.refunded).value_or(Amount{});
    const Amount gone = saturating_sum(saturating_sum(*fee, difference(*bond, bond_back)), used);
    give_room(state, job.buyer, submitter_of(state, job), difference(part, smaller(part, gone)));
}

}  // namespace

void schedule(State& state, const Hash256& id, JobProgress& job, std::uint64_t last) {
    unschedule(state, id, job);
    job.due = later(last, 1);
    state.put(deadline_key({job.due, DueKind::kJob, id}), {});
}

void set_phase(Work& work, Job& job, JobPhase phase, std::uint64_t deadline) {
    job.phase = phase;
    job.phase_deadline = deadline;
    if (phase != JobPhase::kRounds) schedule(work.state, job.id, job, deadline);
    work.tell({.kind = EventKind::kJobPhase, .job = job.id, .number = static_cast<std::uint64_t>(phase)});
}

std::uint64_t last_of_enlistment(const Params& params, const JobTerms& job) {
    return later(later(job.submitted_at, params.ask_commit_window), params.ask_reveal_window);
}

std::uint64_t last_of_first_wait(const Params& params, const JobTerms& job, std::uint64_t market_window) {
    return later(last_of_enlistment(params, job), std::max(params.claim_window, market_window));
}

Hash256 beacon_zero(const Job& job) {
    base::Hasher hasher("assay/beacon-zero/v1");
    hasher.add(job.id);
    for (const BeaconMember& member : job.beacon) hasher.add(member.tip);
    return hasher.finish();
}

void release_joiners(State& state, Job& job) {
    for (RosterEntry& entry : job.roster) {
        if (!entry.locked.is_zero()) unlock_stake(state, entry.node, entry.locked);
        entry.locked = {};
    }
}

void list_as_active(State& state, const Hash256& id) {
    state.put(active_job_key(id), {});
    count_active(state, [](std::uint32_t& jobs) { ++jobs; });
}

bool close_bidding_phase(Work& work, Job& job) {
    if (job.phase == JobPhase::kAskCommit) {
        set_phase(work, job, JobPhase::kAskReveal,
                  later(work.block.height, params_of(work.state, job).ask_reveal_window));
        return false;
    }
    const std::vector<Ask> asks = list_asks(work.state, job.id);
    clear(work, job, asks);
    if (job.roster.empty()) {
        end_job(work, job, Reason::kNoAsks);
        return false;
    }
    job.last_beacon = beacon_zero(job);
    set_phase(work, job, JobPhase::kRounds, 0);
    return true;
}

void end_job(Work& work, Job& job, Reason reason) {
    ASSAY_CHECK(!is_over(job.phase));
    job.end_reason = reason;
    job.phase = JobPhase::kClosing;
    job.phase_deadline = 0;
    unschedule(work.state, job.id, job);
    // A joiner that was dealt nothing has nothing to answer for in the windows.
    release_joiners(work.state, job);
    if (!has_open_claim(work.state, job.id)) return close_job(work, job);
    work.tell({.kind = EventKind::kJobPhase,
               .job = job.id,
               .number = static_cast<std::uint64_t>(JobPhase::kClosing)});
}

void close_job(Work& work, Job& job) {
    ASSAY_CHECK(job.phase == JobPhase::kClosing);
    for (Ask ask : list_asks(work.state, job.id)) {
        if (ask.deposit.is_zero()) continue;  // a job that ends while bidding owes the deposits
        give_free(work.state, ask.miner, ask.deposit, &Supply::deposits);
        ask.deposit = {};
        store(work.state, ask_key(job.id, ask.miner), ask);
    }
    for (EnlistedVerifier& verifier : job.verifiers) {
        if (!verifier.bond.is_zero()) unlock_stake(work.state, verifier.node, verifier.bond);
        verifier.bond = {};
    }
    Amount bond_back;  // the buyer's
    for (BeaconMember& member : job.beacon) {
        if (member.bond.is_zero()) continue;
        if (member.role == BeaconRole::kBuyer) {
            bond_back = member.bond;
            pay_balance(work.state, member.owner, member.bond, &Supply::escrow);
        } else {
            unlock_stake(work.state, member.node, member.bond);
        }
        member.bond = {};
    }
    const Amount refund = job.escrow;
    job.escrow = {};
    job.refunded = refund;
    pay_balance(work.state, job.buyer, refund, &Supply::escrow);
    give_room_back(work.state, job, bond_back);
    job.phase = JobPhase::kEnded;
    job.ended_at = work.block.height;
    schedule_leaving(work.state, job.id, job, later(work.block.height, 1));
    work.state.erase(active_job_key(job.id));
    count_active(work.state, [](std::uint32_t& jobs) { --jobs; });
    work.tell({.kind = EventKind::kRefunded,
               .job = job.id,
               .round = job.round,
               .node = job.buyer_node,
               .amount = refund});
    work.tell({.kind = EventKind::kJobEnded, .job = job.id, .round = job.round, .reason = job.end_reason});
}

}  // namespace assay::contracts
