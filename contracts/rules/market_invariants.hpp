// SPDX-License-Identifier: Apache-2.0
// The invariants of the market between jobs, for the check of a state: every lot is leased or left, every
// lease belongs to a job that goes on and to a registered miner, and the clock is among the deadlines while
// it runs. Internal to the rules.
#pragma once

#include <set>

#include "contracts/rules/claim_invariants.hpp"
#include "contracts/rules/state/deadlines.hpp"

namespace assay::contracts {

bool is_of_market(Table table);

/// Checks the whole state.
InvariantResult check_market(const StateView& state);
/// Checks the same after a change, if it held before. Reads what the change touched, and the leases of
/// `jobs`, the jobs whose records changed.
InvariantResult check_market(const StateView& before, const Overlay& changes, const std::set<Hash256>& jobs);

/// Whether the deadline is the market's and the market's clock is due at that height.
bool is_market_due(const StateView& state, const Deadline& deadline);

}  // namespace assay::contracts
