// SPDX-License-Identifier: Apache-2.0
// The worth of each audit of a slot, for the settlement. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

/// What one verifier's audit of the slot is worth.
struct AuditWorth {
    Reason reason = Reason::kAuditUndecided;
    std::uint64_t work = 0;    ///< of drawn units
    std::uint64_t replay = 0;  ///< of the other units, which it computed because no start was served
    std::uint64_t units = 0;
    Amount from_slot;  ///< what the slot's pay contributes for `replay`
};

/// One entry for each audit, in their order. An audit that agrees with the revealed trace is paid; one that
/// differs waits for its game. Without a reveal nobody knows the slot's claims; then roots that two audits
/// share are paid. Work beyond the drawn units is paid at cost, out of what the slot holds, and only if
/// nobody was served (replays_are_paid): if one verifier was served, the others may have been.
std::vector<AuditWorth> weigh_audits(const RunningRound& running, const SlotRound& slot,
                                     const std::vector<SlotAudit>& audits, Amount held);

}  // namespace assay::contracts
