// SPDX-License-Identifier: Apache-2.0
// How a miner keeps its machine on offer in the market between jobs, and makes ready for the job that leases
// it.
#include <algorithm>
#include <utility>

#include "contracts/base/wide.hpp"
#include "contracts/rules/market/seals.hpp"
#include "node/roles/miner.hpp"

namespace assay::node {

namespace {

const std::string kLotNote = "lot-seals";

std::string text_of(const contracts::LotClass& kind) {
    return "speed " + std::to_string(kind.speed) + ", memory " + std::to_string(kind.memory) + ", network " +
           std::to_string(kind.network);
}

}  // namespace

std::optional<LotTerms> MinerRole::lot_on_offer() {
    if (!options_.trade || ask_unread_ || !takes_on_work()) return std::nullopt;
    if (is_bound_by_auction(state(), me())) return std::nullopt;
    LotTerms terms = *options_.trade;
    terms.ask = ask_order_.value_or(options_.ask);
    if (!terms.speed)
        terms.speed = expected_speed(pace_note(), terms.profile, parts().genesis.block_interval_ms);
    const auto left = options_.hours.left_ms(parts().seams.clock.local_ms());
    const auto lasts_ms = base::Uint128{lot_lasts(state(), height())} * parts().genesis.block_interval_ms;
    if (left && lasts_ms > *left) return std::nullopt;  // it could be leased for heights outside of the hours
    return terms;
}

bool MinerRole::covers_lot_deposit() {
    const base::Amount deposit = contracts::read_market_params(state()).lot_deposit;
    const base::Amount free = contracts::read_stake(state(), me()).free;
    if (free >= deposit) {
        deposit_short_ = false;
        return true;
    }
    if (!std::exchange(deposit_short_, true))
        log().warn("no lot is offered: a sealed one holds " + base::to_text(deposit) + " of our stake, and " +
                   base::to_text(free) + " is free; add to it with: assay stake add AMOUNT");
    return false;
}

void MinerRole::plan_trade() {
    prepare_leased();
    const auto terms = lot_on_offer();
    switch (next_lot_step(state(), me(), terms)) {
        case LotStep::kNone: return;
        case LotStep::kSeal:
            if (covers_lot_deposit()) seal_lot(*terms);
            return;
        case LotStep::kOpen: return open_lot();
        case LotStep::kWithdraw: return offer("withdraw the lot", contracts::LotWithdraw{});
    }
}

void MinerRole::seal_lot(const LotTerms& terms) {
    auto note = read_seals<SealedLot>(parts().seams.disk, kLotNote);
    if (!note.ok()) return fail_with(OwnFailure::kNotes, note.error());
    const std::uint64_t epoch = contracts::read_market_clock(state()).epoch;
    const contracts::LotClass kind = class_of(state(), me(), terms);
    const SealedLot* const made = note->of_epoch(epoch);
    // Of other terms, where the owner has changed them while the clock stood still.
    const bool again =
        made != nullptr && made->kind == kind && made->price == terms.ask && made->epochs == terms.epochs;
    if (!again) {
        note->add({.epoch = epoch,
                   .kind = kind,
                   .price = terms.ask,
                   .epochs = terms.epochs,
                   .salt = random_hash()});
        if (auto written = write_seals(parts().seams.disk, kLotNote, *note); !written.ok())
            return fail_with(OwnFailure::kNotes, written.error());
        const SealedLot& sealed = note->sealed.back();
        log().info("offers its machine in the market at " + base::to_text(sealed.price) +
                   " a work unit: " + text_of(sealed.kind));
    }
    offer("seal a lot", contracts::LotSeal{.seal = seal_of(note->sealed.back())});
}

base::Hash256 MinerRole::seal_of(const SealedLot& lot) const {
    return contracts::lot_seal(chain_id(), me(), lot.kind, lot.price, lot.epochs, lot.salt);
}

void MinerRole::open_lot() {
    const auto note = read_seals<SealedLot>(parts().seams.disk, kLotNote);
    if (!note.ok()) return fail_with(OwnFailure::kNotes, note.error());
    const auto ask = contracts::read_lot_ask(state(), me());
    const SealedLot* const sealed =
        note->find([&](const SealedLot& one) { return ask && seal_of(one) == ask->seal; });
    if (sealed == nullptr) {
        if (!std::exchange(seal_lost_, true))
            log().warn(
                "a lot is sealed that this home has no note of: it cannot be opened, and its deposit "
                "is burned; run one miner with one home for each node key");
        return;
    }
    seal_lost_ = false;
    offer("open the lot",
          contracts::LotOpen{
              .kind = sealed->kind, .price = sealed->price, .epochs = sealed->epochs, .salt = sealed->salt});
}

void MinerRole::prepare_leased() {
    const auto id = leased_by(state(), me());
    if (!id) return;
    const auto job = contracts::read_job(state(), *id);
    if (!job || contracts::is_over(job->phase)) return;
    if (leased_for_.insert(job->id).second) {
        log().info("job " + job->id.brief() + " leases this machine");
        (void)locks_within_limits(*job);
        (void)can_keep(*job);
    }
    // What a round takes is here when it is dealt: the lease is known an epoch's notice before it begins.
    if (!bench_.gather(state(), *job, Pin::kEvictable)) return;
    if (is_working() || games_.computing() || has_slot_to_train()) return;
    (void)bench_.prepared(state(), *job);
}

bool MinerRole::has_slot_to_train() const {
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        const auto job = contracts::read_job_progress(state(), id);
        if (!job || job->phase != contracts::JobPhase::kRounds) continue;
        for (const contracts::SlotRound& slot : contracts::list_slots(state(), id, job->round))
            if (slot.assigned && slot.miner == me() && !slot.committed) return true;
    }
    return false;
}

}  // namespace assay::node
