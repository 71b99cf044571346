// SPDX-License-Identifier: Apache-2.0
// The two checking phases, by area. Internal; apply.hpp has the way in.
#pragma once

#include "contracts/rules/apply.hpp"
#include "contracts/rules/store.hpp"

namespace assay::contracts {

using Checked = Result<void, Reason>;

/// What a read-only check may know. Like Work it offers no parameters.
struct Case {
    const StateView& state;
    const BlockContext& block;
    PublicKey sender;  ///< the signing key
    PublicKey owner;   ///< its owner: itself for an owner key
};

// check_identity.cpp
Checked check(const Case& c, const Transfer& tx);
Checked check(const Case& c, const NodeRegister& tx);
Checked check(const Case& c, const NodeRevoke& tx);
Checked check(const Case& c, const MinerRegister& tx);
Checked check(const Case& c, const VerifierRegister& tx);
Checked check(const Case& c, const StakeDeposit& tx);
Checked check(const Case& c, const StakeWithdraw& tx);
Checked check(const Case& c, const EndpointUpdate& tx);
// check_job.cpp
Checked check(const Case& c, const JobSubmit& tx);
Checked check(const Case& c, const JobCancel& tx);
Checked check(const Case& c, const AskCommit& tx);
Checked check(const Case& c, const AskReveal& tx);
Checked check(const Case& c, const VerifierEnlist& tx);
Checked check(const Case& c, const SequencerEnlist& tx);
// check_round.cpp
Checked check(const Case& c, const RoundCommit& tx);
Checked check(const Case& c, const BeaconOpen& tx);
Checked check(const Case& c, const RoundReveal& tx);
Checked check(const Case& c, const AuditSeal& tx);
Checked check(const Case& c, const AuditOpen& tx);
Checked check(const Case& c, const MergeSeal& tx);
Checked check(const Case& c, const MergeOpen& tx);

/// A node key of `owner` that is not revoked.
Checked check_own_node(const StateView& state, const PublicKey& owner, const PublicKey& node);

/// True when `endpoint` is "host:port" of printable characters with a port from 1 to 65535.
bool is_endpoint(std::string_view endpoint);

}  // namespace assay::contracts
