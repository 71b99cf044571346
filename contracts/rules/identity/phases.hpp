// SPDX-License-Identifier: Apache-2.0
// The transactions about money, keys and stake, for the rules' entry points: the read-only check of each, and
// the change that it makes. A change REQUIRES that its check passed on this very state. Internal to the
// rules.
#pragma once

#include "contracts/rules/identity/transactions.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

// check.cpp
Checked check(const Case& c, const Transfer& tx);
Checked check(const Case& c, const NodeRegister& tx);
Checked check(const Case& c, const NodeRevoke& tx);
Checked check(const Case& c, const MinerRegister& tx);
Checked check(const Case& c, const VerifierRegister& tx);
Checked check(const Case& c, const StakeDeposit& tx);
Checked check(const Case& c, const StakeWithdraw& tx);
Checked check(const Case& c, const TeamGrant& tx);
Checked check(const Case& c, const TeamRevoke& tx);

/// Checks that `node` is a node key of `owner` and is not revoked.
Checked check_own_node(const StateView& state, const PublicKey& owner, const PublicKey& node);

// apply.cpp
void carry_out(Work& work, const Sent& sent, const Transfer& tx);
void carry_out(Work& work, const Sent& sent, const NodeRegister& tx);
void carry_out(Work& work, const Sent& sent, const NodeRevoke& tx);
void carry_out(Work& work, const Sent& sent, const MinerRegister& tx);
void carry_out(Work& work, const Sent& sent, const VerifierRegister& tx);
void carry_out(Work& work, const Sent& sent, const StakeDeposit& tx);
void carry_out(Work& work, const Sent& sent, const StakeWithdraw& tx);
void carry_out(Work& work, const Sent& sent, const TeamGrant& tx);
void carry_out(Work& work, const Sent& sent, const TeamRevoke& tx);

}  // namespace assay::contracts
