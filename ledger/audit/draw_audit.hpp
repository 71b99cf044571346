// SPDX-License-Identifier: Apache-2.0
// Checks what comes before the work, for the audit of payments: the auction that set the price, and the
// beacons that drew what was audited.
#pragma once

#include <string>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::ledger {

/// A failed check in one round.
struct RoundFailure {
    std::uint32_t round = 0;
    std::string what;  ///< begins with the name of the rule
};

/// Checks every opened link against its member's chain, back to the registered tip; every beacon against the
/// opened links and the beacon before; and whether a link is counted as missing. `rounds` are all rounds of
/// the job, ascending.
std::vector<RoundFailure> audit_beacons(const contracts::StateView& state, const contracts::Job& job,
                                        const std::vector<contracts::Round>& rounds);

/// Opens every ask's seal again, on this chain, and clears the auction a second time from the revealed asks.
/// When some asks lacked stake, it is no longer known which; then at most as many asks as were counted short
/// may be skipped. Sentences as in verdict_audit.
std::vector<std::string> audit_auction(const std::string& chain, const contracts::Job& job,
                                       const std::vector<contracts::Ask>& asks);

}  // namespace assay::ledger
