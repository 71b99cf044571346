// SPDX-License-Identifier: Apache-2.0
// Gives the rules' entry the clock of the market's epochs (decision 86). It stands among the deadlines while
// something is sealed, leased or waited for, and nowhere otherwise: no block is made for an idle market.
#pragma once

#include <vector>

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Begins the running epoch anew at this height where the clock stands still; does nothing otherwise.
void start_market(Work& work);
/// Carries out the part of the epoch that is over. Returns the jobs whose leases begin with this height,
/// ascending: those that wait can begin.
std::vector<Hash256> advance_market(Work& work);

}  // namespace assay::contracts
