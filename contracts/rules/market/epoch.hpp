// SPDX-License-Identifier: Apache-2.0
// Gives the market's clock the clearing of the next epoch: every class, then who waits for what is left.
// Internal to the rules.
#pragma once

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Burns what was not opened, clears each class, writes the leases of the epoch after clock.epoch and the
/// lots that are left of it, and tells the jobs that will have fewer lots. Counts in `clock` what leaves, and
/// leaves its record to the caller.
void clear_next_epoch(Work& work, MarketClock& clock);

}  // namespace assay::contracts
