// SPDX-License-Identifier: Apache-2.0
// Gives the settlement what each audit of a slot is worth. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

/// What one verifier's audit of the slot is worth.
struct AuditWorth {
    Reason reason = Reason::kAuditUndecided;
    std::uint64_t work = 0;    ///< of drawn units
    std::uint64_t replay = 0;  ///< of the others, which it computed because no start was served
    std::uint64_t units = 0;
    Amount from_slot;  ///< what the slot's pay gives for `replay`
};

/// In the order of the audits. A word that agrees with the revealed trace is paid, and one that differs waits
/// for its game. What a slot without a reveal claims nobody knows: two equal words are paid there. Work
/// beyond the drawn units is paid at cost, out of what the slot holds, and only if nobody was served
/// (replays_are_paid): where one was, the others may have been.
std::vector<AuditWorth> weigh_audits(const RunningRound& running, const SlotRound& slot,
                                     const std::vector<SlotAudit>& audits, Amount held);

}  // namespace assay::contracts
