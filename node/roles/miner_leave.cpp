// SPDX-License-Identifier: Apache-2.0
// How a miner with the order to pause or drain asks for no new work, and how one that drains knows that no
// work needs it.
#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "node/roles/miner.hpp"
#include "node/roles/price_order.hpp"

namespace assay::node {

namespace {

bool has_open_slot_claim(const contracts::StateView& state, const base::Hash256& job,
                         const base::PublicKey& miner) {
    bool found = false;
    contracts::for_each_claim_of(state, job, miner, contracts::ClaimKind::kSlot,
                                 [&](const contracts::ClaimId&) {
                                     found = true;
                                     return false;
                                 });
    return found;
}

/// Whether a slot of the running round goes on with a state that this miner hands on.
bool hands_on(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& miner) {
    if (job.phase != contracts::JobPhase::kRounds) return false;
    const auto slots = contracts::list_slots(state, job.id, job.round);
    return std::any_of(slots.begin(), slots.end(), [&](const contracts::SlotRound& slot) {
        const auto carried = contracts::carried_in(state, job.id, job.round, slot.slot);
        return !carried.nothing() && carried.holder == miner;
    });
}

/// What of the job the miner cannot leave; empty: nothing.
std::string bound_by(const contracts::StateView& state, const contracts::Job& job,
                     const base::PublicKey& miner) {
    const bool bidding =
        job.phase == contracts::JobPhase::kAskCommit || job.phase == contracts::JobPhase::kAskReveal;
    const std::string name = " job " + job.id.brief();
    if (bidding && contracts::read_ask(state, job.id, miner)) return "its ask for" + name;
    if (has_place(state, job, miner)) return (job.leases() ? "its lot of" : "its place in") + name;
    if (has_open_slot_claim(state, job.id, miner)) return "the window of its claims in" + name;
    if (hands_on(state, job, miner)) return "a state that it hands on in" + name;
    return {};
}

/// Whether a job may still lease the miner's lot of the running epoch. While the clock runs, the lot cannot
/// be withdrawn.
bool may_be_leased(const contracts::StateView& state, const base::PublicKey& miner) {
    const contracts::MarketClock clock = contracts::read_market_clock(state);
    const auto lot = contracts::read_lot(state, clock.epoch, miner);
    return clock.phase != contracts::MarketPhase::kStopped && lot && lot->job.is_zero();
}

}  // namespace

void MinerRole::look_at_order() {
    if (!orders_.look(height())) return;
    const auto asked = read_price_order(parts().seams.disk, ask_order_note());
    if (!asked.ok() && !ask_unread_) log().warn(asked.error().what + "; no lot is offered meanwhile");
    ask_unread_ = !asked.ok();
    if (asked.ok()) ask_order_ = *asked;
}

std::string MinerRole::still_needed_for() {
    if (is_sending()) return "a transaction that is under way";
    if (!contracts::list_played_games(state(), me()).empty() || games_.computing()) return "a dispute";
    if (next_lot_step(state(), me(), std::nullopt) == LotStep::kWithdraw ||
        contracts::read_lot_ask(state(), me()) || may_be_leased(state(), me()))
        return "its lot in the market";
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        const auto job = contracts::read_job(state(), id);
        if (!job) continue;
        if (std::string why = bound_by(state(), *job, me()); !why.empty()) return why;
    }
    return {};
}

void MinerRole::end_if_drained() {
    if (orders_.order() == WorkOrder::kDrain && orders_.may_end(still_needed_for()))
        parts().finish(std::nullopt);
}

}  // namespace assay::node
