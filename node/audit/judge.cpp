// SPDX-License-Identifier: Apache-2.0
// Compares recomputed units with a verdict. The ledger judged only the units that it drew, each from its
// claimed start, so other false units make no verdict wrong.
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

namespace {

// A verifier says that this unit is false and what it should have been, and a game decides: one that is false
// indeed is confirmed, and a wrong accusation makes no verdict wrong.
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
    for (const std::uint32_t drawn : recorded.drawn_units) {
        if (drawn >= replay.units.size()) break;
        const UnitState state = replay.units[drawn].state;
        if (state == UnitState::kEqual) continue;
        if (state == UnitState::kUnknown && replay.judgement == Judgement::kCannotBeMade) continue;
        replay.judged_by = drawn;
        replay.judgement = state == UnitState::kFalse ? Judgement::kWrong : Judgement::kCannotBeMade;
        if (state == UnitState::kFalse) return;
    }
    replay.false_work_paid = replay.first_wrong() != nullptr;
}

}  // namespace

void judge(SlotReplay& replay, const contracts::SlotRound& recorded) {
    switch (recorded.verdict) {
        case Reason::kPaidAccused: return judge_accused(replay, recorded);
        case Reason::kPaid:
        case Reason::kPaidDiverged: return judge_paid(replay, recorded);
        default: return;  // not decided by bits: silence, bytes that are not stored, an open round
    }
}

}  // namespace assay::node
