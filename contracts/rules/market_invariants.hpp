// SPDX-License-Identifier: Apache-2.0
// Gives the check of a state what must hold of the market between jobs: every lot is leased or left, every
// lease is of a job that goes on and a registered miner, and the clock is among the deadlines while it runs.
// Internal to the rules.
#pragma once

#include <set>

#include "contracts/rules/claim_invariants.hpp"
#include "contracts/rules/state/deadlines.hpp"

namespace assay::contracts {

bool is_of_market(Table table);

/// Of the whole state.
InvariantResult check_market(const StateView& state);
/// The same after a change, as long as it held before: reads what the change touched, and the leases of
/// `jobs`, whose records did change.
InvariantResult check_market(const StateView& before, const Overlay& changes, const std::set<Hash256>& jobs);

/// Whether the deadline is the market's, and its clock is due then.
bool is_market_due(const StateView& state, const Deadline& deadline);

}  // namespace assay::contracts
