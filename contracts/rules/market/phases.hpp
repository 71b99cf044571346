// SPDX-License-Identifier: Apache-2.0
// The transactions of the market, for the rules' entry points: the read-only check of each, and the change
// that it makes. A change REQUIRES that its check passed on this very state. Internal to the rules.
#pragma once

#include "contracts/rules/market/transactions.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

// check.cpp
Checked check(const Case& c, const LotSeal& tx);
Checked check(const Case& c, const LotOpen& tx);
Checked check(const Case& c, const LotWithdraw& tx);
Checked check(const Case& c, const BidSeal& tx);
Checked check(const Case& c, const BidOpen& tx);
Checked check(const Case& c, const LeaseTake& tx);

// apply.cpp
void carry_out(Work& work, const Sent& sent, const LotSeal& tx);
void carry_out(Work& work, const Sent& sent, const LotOpen& tx);
void carry_out(Work& work, const Sent& sent, const LotWithdraw& tx);
void carry_out(Work& work, const Sent& sent, const BidSeal& tx);
void carry_out(Work& work, const Sent& sent, const BidOpen& tx);
void carry_out(Work& work, const Sent& sent, const LeaseTake& tx);

}  // namespace assay::contracts
