// SPDX-License-Identifier: Apache-2.0
// The transactions of games, for the rules' entry points: the read-only check of each, and the change that it
// makes. A change REQUIRES that its check passed on this very state. Internal to the rules.
#pragma once

#include "contracts/rules/dispute/transactions.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

// check.cpp
Checked check(const Case& c, const DisputeOpen& tx);
Checked check(const Case& c, const DisputePost& tx);
Checked check(const Case& c, const DisputePick& tx);
Checked check(const Case& c, const DisputeProve& tx);
Checked check(const Case& c, const DisputeConcede& tx);
Checked check(const Case& c, const DisputeCall& tx);

// apply.cpp
void carry_out(Work& work, const Sent& sent, const DisputeOpen& tx);
void carry_out(Work& work, const Sent& sent, const DisputePost& tx);
void carry_out(Work& work, const Sent& sent, const DisputePick& tx);
void carry_out(Work& work, const Sent& sent, const DisputeProve& tx);
void carry_out(Work& work, const Sent& sent, const DisputeConcede& tx);
void carry_out(Work& work, const Sent& sent, const DisputeCall& tx);

}  // namespace assay::contracts
