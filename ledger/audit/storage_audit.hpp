// SPDX-License-Identifier: Apache-2.0
// Checks the bitmaps, for the audit of payments: who claims to hold which slots' bytes, and whether that is a
// majority, counted again by separate code (docs/concepts/round.md, storage).
#pragma once

#include <string>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::ledger {

/// Whether the judges that claim to hold the slot's bytes have more than half of the relevant stake: the
/// weights of all judges except those of the miner's owner.
bool is_held(const contracts::StateView& state, const contracts::Job& job, const contracts::Round& round,
             const contracts::SlotRound& slot);

/// Finds bitmaps of others than the round's judges, of a wrong length, or with a bit of a slot that its
/// poster may not name. One sentence each; none when all is right.
std::vector<std::string> audit_bitmaps(const contracts::StateView& state, const contracts::Job& job,
                                       const contracts::Round& round);

}  // namespace assay::ledger
