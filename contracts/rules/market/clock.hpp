// SPDX-License-Identifier: Apache-2.0
// The clock of the market's epochs (decision 86), for the rules' entry points. It has a deadline only while
// something is sealed, leased or waited for, so that no block is made for an idle market.
#pragma once

#include <vector>

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// If the clock is stopped, begins the running epoch anew at this height; otherwise does nothing.
void start_market(Work& work);
/// Ends the phase of the epoch that is over and begins the next. Returns the jobs whose leases begin at this
/// height, ascending; those that wait can begin. REQUIRES that the clock is not stopped.
std::vector<Hash256> advance_market(Work& work);

}  // namespace assay::contracts
