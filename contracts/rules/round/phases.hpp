// SPDX-License-Identifier: Apache-2.0
// The transactions about a round, for the rules' entry points: the read-only check of each, and the change
// that it makes. A change REQUIRES that its check passed on this very state. Internal to the rules.
#pragma once

#include "contracts/rules/round/transactions.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

// check.cpp
Checked check(const Case& c, const RoundCommit& tx);
Checked check(const Case& c, const BeaconOpen& tx);
Checked check(const Case& c, const RoundServe& tx);
Checked check(const Case& c, const RoundReveal& tx);
Checked check(const Case& c, const StorageBitmap& tx);
Checked check(const Case& c, const AuditSeal& tx);
Checked check(const Case& c, const AuditOpen& tx);
Checked check(const Case& c, const MergeSeal& tx);
Checked check(const Case& c, const MergeOpen& tx);

// apply.cpp
void carry_out(Work& work, const Sent& sent, const RoundCommit& tx);
void carry_out(Work& work, const Sent& sent, const BeaconOpen& tx);
void carry_out(Work& work, const Sent& sent, const RoundServe& tx);
void carry_out(Work& work, const Sent& sent, const RoundReveal& tx);
void carry_out(Work& work, const Sent& sent, const StorageBitmap& tx);
void carry_out(Work& work, const Sent& sent, const AuditSeal& tx);
void carry_out(Work& work, const Sent& sent, const AuditOpen& tx);
void carry_out(Work& work, const Sent& sent, const MergeSeal& tx);
void carry_out(Work& work, const Sent& sent, const MergeOpen& tx);

}  // namespace assay::contracts
