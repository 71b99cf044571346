// SPDX-License-Identifier: Apache-2.0
// Compares recomputed units with a verdict. The ledger judged only the units that it drew, each from its
// claimed start, so other false units make no verdict wrong. Games decide afterwards who is paid.
#include <algorithm>

#include "node/audit/replay.hpp"

namespace assay::node {

using contracts::Reason;
using UnitState = UnitReplay::Comparison;

std::uint32_t SlotReplay::count(UnitState state) const {
    return static_cast<std::uint32_t>(std::count_if(
        units.begin(), units.end(), [&](const UnitReplay& unit) { return unit.state == state; }));
}

const UnitReplay* SlotReplay::first_wrong() const {
    const auto found = std::find_if(units.begin(), units.end(),
                                    [](const UnitReplay& unit) { return unit.state == UnitState::kFalse; });
    return found == units.end() ? nullptr : &*found;
}

// What else could be recomputed of a slot that nobody was paid for does not matter.
bool SlotReplay::is_left_open() const {
    if (judgement == Judgement::kCannotBeMade) return true;
    const bool paid = contracts::consequence(verdict) == contracts::Consequence::kPaid && !lost_game;
    return paid && count(UnitState::kUnknown) > 0;
}

namespace {

// A verifier says that this unit is false and what it should have been, and a game decides: one that is false
// indeed is confirmed, and a wrong accusation makes no verdict wrong. Not for a slot that was paid after all.
void judge_accused(SlotReplay& replay, const contracts::SlotRound& recorded) {
    // A unit that is not among the recomputed: it stands behind the segment that was asked for.
    if (recorded.fault_unit >= replay.units.size()) {
        replay.judged_by = recorded.fault_unit;
        replay.judgement = Judgement::kNotReached;
        return;
    }
    const UnitReplay& unit = replay.units[recorded.fault_unit];
    // Unknown behind a false state, it can still be what verifiers found who replayed the slot.
    const bool as_recorded = unit.state != UnitState::kEqual && unit.recomputed == recorded.fault_found &&
                             unit.claimed == recorded.fault_claimed;
    if (!as_recorded && unit.state != UnitState::kUnknown) return;
    replay.judged_by = recorded.fault_unit;
    replay.judgement = as_recorded ? Judgement::kRight : Judgement::kCannotBeMade;
}

// The ledger says that every drawn unit is as claimed.
void judge_paid(SlotReplay& replay, const contracts::SlotRound& recorded) {
    replay.false_work_paid = replay.first_wrong() != nullptr;
    for (const std::uint32_t drawn : recorded.drawn_units) {
        if (drawn >= replay.units.size()) {
            if (replay.judgement == Judgement::kCannotBeMade) return;
            replay.judged_by = drawn;
            replay.judgement = Judgement::kNotReached;
            return;
        }
        const UnitState state = replay.units[drawn].state;
        if (state == UnitState::kEqual) continue;
        if (state == UnitState::kUnknown && replay.judgement == Judgement::kCannotBeMade) continue;
        replay.judged_by = drawn;
        replay.judgement = state == UnitState::kFalse ? Judgement::kWrong : Judgement::kCannotBeMade;
        if (state == UnitState::kFalse) return;
    }
}

// Nothing was paid for the slot, whatever its settlement said. A game may be lost by silence, so that a right
// unit makes no loss wrong.
void judge_lost(SlotReplay& replay, const contracts::SlotRound& recorded, const KillerGame& killer) {
    replay.lost_game = killer.number;
    if (recorded.verdict == Reason::kPaidAccused) judge_accused(replay, recorded);
    if (replay.judged_by) return;
    if (killer.unit >= replay.units.size()) {
        replay.judged_by = killer.unit;
        replay.judgement = Judgement::kNotReached;
    } else if (replay.units[killer.unit].state == UnitState::kFalse) {
        replay.judged_by = killer.unit;
    }
}

void judge_stood(SlotReplay& replay, const contracts::SlotRound& recorded, bool is_open) {
    switch (recorded.verdict) {
        case Reason::kPaidAccused:
            // Once all its accusers have lost the ledger holds its work for right.
            if (recorded.cleared) return judge_paid(replay, recorded);
            replay.awaits_game = is_open;
            if (is_open) return judge_accused(replay, recorded);
            [[fallthrough]];  // a game that nobody lost decided nothing
        case Reason::kPaidUndecided:
            // The ledger does not say that its units are right: it pays for them all the same.
            replay.false_work_paid = replay.first_wrong() != nullptr;
            return;
        case Reason::kPaid:
        case Reason::kPaidDiverged: return judge_paid(replay, recorded);
        default: return;  // not decided by bits: silence, bytes that are not stored, an open round
    }
}

}  // namespace

void judge(SlotReplay& replay, const contracts::SlotRound& recorded, const ClaimSince& since) {
    if (since.killer) return judge_lost(replay, recorded, *since.killer);
    judge_stood(replay, recorded, since.is_open);
}

}  // namespace assay::node
