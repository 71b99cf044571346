// SPDX-License-Identifier: Apache-2.0
// What a slot found right gives its miner besides the pay, for the rules: earnings, standing, measured speed.
// A slot that nobody accuses is found right by the settlement; an accused slot when all its accusers have
// lost. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

/// Adds to what the miner was ever paid.
void note_earned(State& state, const PublicKey& miner, Amount pay);

/// Returns what is left of the miner's registration fee to its owner, if its probation for such jobs is over.
/// Work for a job of its own owner never does this.
void refund_fee(State& state, const Params& params, const PublicKey& miner, const JobTerms& job);

/// Appends the newest speed and drops those older than Params::speed_window rounds.
void remember_speed(std::vector<std::uint64_t>& speeds, const Params& params, std::uint64_t speed);

/// Called when everyone who accused the slot has lost. Does what the settlement left out. The slot's pay
/// counts as earned. Its work counts for the standing that the miner had then, unless the work ended early
/// (`standing_at`). Once no slot that the miner held in that round is in doubt, they all count for its
/// measured speed. Writes slot and job. REQUIRES a claim that is not dead; does nothing for a slot that is
/// not paid.
void clear_slot(Work& work, const ClaimId& id, const Claim& claim);

}  // namespace assay::contracts
