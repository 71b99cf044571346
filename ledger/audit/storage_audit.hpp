// SPDX-License-Identifier: Apache-2.0
// Gives the audit of payments its check of bitmaps: who says that it holds which slots' bytes, and whether
// that is a majority, counted again by code of its own (docs/concepts/round.md, storage).
#pragma once

#include <string>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::ledger {

/// Whether the judges that say that they hold the slot's bytes have more than half of the stake that has a
/// say: the weights of all judges but those of the miner's owner.
bool is_held(const contracts::StateView& state, const contracts::Job& job, const contracts::Round& round,
             const contracts::SlotRound& slot);

/// Bitmaps of others than the round's judges, of another length, or with a bit of a slot that its poster has
/// no say about. One sentence each; nothing when all is right.
std::vector<std::string> audit_bitmaps(const contracts::StateView& state, const contracts::Job& job,
                                       const contracts::Round& round);

}  // namespace assay::ledger
