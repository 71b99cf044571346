// SPDX-License-Identifier: Apache-2.0
// The life of a job as a state machine over heights and messages. Internal; called after every transaction
// about a job and at every block's beginning.
#pragma once

#include "contracts/rules/work.hpp"

namespace assay::contracts {

/// Carries out every change of phase that is due at this height: because the phase's last height has
/// passed, or because all its messages are in. Writes the job.
void advance_job(Work& work, const Hash256& id);

/// Ends a job at a border: refunds what is left of the escrow, releases what is locked.
void end_job(Work& work, Job& job, Reason reason);

/// Deals the slots of round job.round, or ends the job when it may not or cannot go on.
void start_round(Work& work, Job& job);

/// Like advance_job for the running round: one change of phase if one is due. False: none was.
bool advance_round(Work& work, Job& job);

/// Verifiers that may be drawn in a round that begins now. The weight is what each still has locked for this
/// job: no other stake can be taken from it for a wrong word, so no other stake speaks for it. A penalty
/// lowers the weight, and nothing raises it.
std::vector<struct Candidate> eligible_verifiers(const StateView& state, const Job& job);

}  // namespace assay::contracts
