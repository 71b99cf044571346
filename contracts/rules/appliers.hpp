// SPDX-License-Identifier: Apache-2.0
// The mutating phase, by area. Each REQUIRES that its check passed on this state. Internal.
#pragma once

#include "contracts/rules/work.hpp"

namespace assay::contracts {

/// Who sent it; `id` of the transaction.
struct Sent {
    Hash256 id;
    PublicKey sender;
    PublicKey owner;
};

// apply_identity.cpp
void carry_out(Work& work, const Sent& sent, const Transfer& tx);
void carry_out(Work& work, const Sent& sent, const NodeRegister& tx);
void carry_out(Work& work, const Sent& sent, const NodeRevoke& tx);
void carry_out(Work& work, const Sent& sent, const MinerRegister& tx);
void carry_out(Work& work, const Sent& sent, const VerifierRegister& tx);
void carry_out(Work& work, const Sent& sent, const StakeDeposit& tx);
void carry_out(Work& work, const Sent& sent, const StakeWithdraw& tx);
void carry_out(Work& work, const Sent& sent, const EndpointUpdate& tx);
// apply_job.cpp
void carry_out(Work& work, const Sent& sent, const JobSubmit& tx);
void carry_out(Work& work, const Sent& sent, const JobCancel& tx);
void carry_out(Work& work, const Sent& sent, const AskCommit& tx);
void carry_out(Work& work, const Sent& sent, const AskReveal& tx);
void carry_out(Work& work, const Sent& sent, const VerifierEnlist& tx);
void carry_out(Work& work, const Sent& sent, const SequencerEnlist& tx);
// apply_round.cpp
void carry_out(Work& work, const Sent& sent, const RoundCommit& tx);
void carry_out(Work& work, const Sent& sent, const BeaconOpen& tx);
void carry_out(Work& work, const Sent& sent, const RoundReveal& tx);
void carry_out(Work& work, const Sent& sent, const AuditSeal& tx);
void carry_out(Work& work, const Sent& sent, const AuditOpen& tx);
void carry_out(Work& work, const Sent& sent, const MergeSeal& tx);
void carry_out(Work& work, const Sent& sent, const MergeOpen& tx);

}  // namespace assay::contracts
