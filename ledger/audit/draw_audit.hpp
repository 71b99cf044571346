// SPDX-License-Identifier: Apache-2.0
// Gives the audit of payments its check of what comes before the work: the auction that set the price, and
// the beacons that drew what was audited.
#pragma once

#include <string>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"

namespace assay::ledger {

/// What does not check in one round.
struct RoundFailure {
    std::uint32_t round = 0;
    std::string what;  ///< begins with the name of the rule
};

/// Every opened link against its member's chain, back to what it registered; every beacon against the opened
/// links and the beacon before; whether a link is counted as missing. `rounds`: all of the job, ascending.
std::vector<RoundFailure> audit_beacons(const contracts::StateView& state, const contracts::Job& job,
                                        const std::vector<contracts::Round>& rounds);

/// Opens every ask's seal again, on this chain, and clears the auction a second time from the revealed asks.
/// Which asks lacked stake is no longer known when one did; then only as many asks as were counted short may
/// be passed over. Sentences as in verdict_audit.
std::vector<std::string> audit_auction(const std::string& chain, const contracts::Job& job,
                                       const std::vector<contracts::Ask>& asks);

}  // namespace assay::ledger
