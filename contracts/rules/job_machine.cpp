// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job_machine.hpp"

#include <algorithm>

#include "contracts/rules/auction.hpp"
#include "contracts/rules/costs.hpp"
#include "contracts/rules/draws.hpp"
#include "contracts/rules/limits.hpp"
#include "contracts/rules/money.hpp"
#include "contracts/rules/standing.hpp"

namespace assay::contracts {

namespace {

void set_phase(Work& work, Job& job, JobPhase phase, std::uint64_t deadline) {
    job.phase = phase;
    job.phase_deadline = deadline;
    work.tell({.kind = EventKind::kJobPhase, .job = job.id, .number = static_cast<std::uint64_t>(phase)});
}

void burn_unrevealed(Work& work, const Job& job, const std::vector<Ask>& asks) {
    for (Ask ask : asks) {
        if (ask.revealed) continue;
        work.tell({.kind = EventKind::kLost,
                   .job = job.id,
                   .node = ask.miner,
                   .reason = Reason::kAskNotRevealed,
                   .amount = ask.deposit});
        Miner miner = *read_miner(work.state, ask.miner);
        miner.forfeited = saturating_sum(miner.forfeited, ask.deposit);
        store(work.state, miner_key(ask.miner), miner);
        move_total(work.state, &Supply::deposits, &Supply::burned, ask.deposit);
        ask.deposit = {};
        store(work.state, ask_key(job.id, ask.miner), ask);
    }
}

void clear(Work& work, Job& job, const std::vector<Ask>& asks) {
    const Params params = params_of(work.state, job);
    std::vector<Offer> offers;
    for (const Ask& ask : asks) {
        if (!ask.revealed) continue;
        const bool newcomer = is_newcomer(work.state, params, ask.miner, job);
        const auto bond = slot_bond(params, job.spec, job.spec.market.max_price, job.slot_work,
                                    newcomer ? Audited::kAlways : Audited::kAtRate);
        ASSAY_CHECK(bond.has_value());
        const bool alive = !read_node_key(work.state, ask.miner)->revoked;
        offers.push_back({ask.miner, ask.price, alive && read_stake(work.state, ask.miner).free >= *bond});
    }
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

void close_bidding(Work& work, Job& job) {
    const std::vector<Ask> asks = list_asks(work.state, job.id);
    burn_unrevealed(work, job, asks);
    clear(work, job, asks);
    if (job.roster.empty()) return end_job(work, job, Reason::kNoAsks);
    base::Hasher hasher("assay/beacon-zero/v1");
    hasher.add(job.id);
    for (const BeaconMember& member : job.beacon) hasher.add(member.tip);
    job.last_beacon = hasher.finish();
    set_phase(work, job, JobPhase::kRounds, 0);
    start_round(work, job);
}

/// One change of phase, if one is due.
bool advance_once(Work& work, Job& job) {
    if (job.phase == JobPhase::kEnded) return false;
    if (job.phase == JobPhase::kRounds) return advance_round(work, job);
    if (job.cancel_asked) {
        end_job(work, job, Reason::kJobCancelled);
        return true;
    }
    // Nobody can know that all asks are in, so these two windows run to their end.
    if (work.block.height <= job.phase_deadline) return false;
    if (job.phase == JobPhase::kAskCommit) {
        set_phase(work, job, JobPhase::kAskReveal,
                  later(work.block.height, params_of(work.state, job).ask_reveal_window));
    } else {
        close_bidding(work, job);
    }
    return true;
}

}  // namespace

void advance_job(Work& work, const Hash256& id) {
    auto job = read_job(work.state, id);
    ASSAY_CHECK(job.has_value());
    int transitions = 0;
    while (advance_once(work, *job)) ASSAY_CHECK(++transitions <= kMaxTransitions);
    if (transitions > 0) store(work.state, job_key(id), *job);
}

void end_job(Work& work, Job& job, Reason reason) {
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
    const Amount refund = job.escrow;
    job.escrow = {};
    job.refunded = refund;
    pay_balance(work.state, job.buyer, refund, &Supply::escrow);
    job.phase = JobPhase::kEnded;
    job.phase_deadline = 0;
    job.end_reason = reason;
    job.ended_at = work.block.height;
    work.state.erase(active_job_key(job.id));
    work.tell({.kind = EventKind::kRefunded,
               .job = job.id,
               .round = job.round,
               .node = job.buyer_node,
               .amount = refund});
    work.tell({.kind = EventKind::kJobEnded, .job = job.id, .round = job.round, .reason = reason});
}

std::vector<Candidate> eligible_verifiers(const StateView& state, const Job& job) {
    std::vector<Candidate> candidates;
    for (const EnlistedVerifier& verifier : job.verifiers) {
        if (verifier.dropped || read_node_key(state, verifier.node)->revoked) continue;
        candidates.push_back({verifier.node, verifier.owner, verifier.bond.units()});
    }
    return candidates;
}

}  // namespace assay::contracts
