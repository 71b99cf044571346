// SPDX-License-Identifier: Apache-2.0
// The clearing of the next epoch, for the market's clock: every class, then the jobs that wait for lots that
// are left. Internal to the rules.
#pragma once

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Burns the deposits of seals that were not opened, clears each class, writes the leases of the epoch after
/// clock.epoch and the lots that are left in it, and tells the jobs that will have fewer lots. Updates the
/// counts in `clock`; the caller stores it.
void clear_next_epoch(Work& work, MarketClock& clock);

}  // namespace assay::contracts
