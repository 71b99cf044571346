// SPDX-License-Identifier: Apache-2.0
// Gives the rules what a slot found right is worth to its miner beside the pay: earnings, standing, measured
// speed. One that nobody accuses is found right by the settlement, an accused one when all who accuse it have
// lost. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

/// Adds to what the miner was ever paid.
void note_earned(State& state, const PublicKey& miner, Amount pay);

/// What is left of the miner's registration fee is its owner's, if its probation for such jobs is over. Never
/// by work for a job of its own owner.
void refund_fee(State& state, const Params& params, const PublicKey& miner, const JobTerms& job);

/// The newest of the recent speeds.
void remember_speed(std::vector<std::uint64_t>& speeds, const Params& params, std::uint64_t speed);

/// Everyone who accused the slot has lost. What the settlement left out is done now: its pay counts as
/// earned; its work counts for the standing that the miner had then, unless it ended early (`standing_at`);
/// and once no slot that the miner held in that round is in doubt, they count for its measured speed. Writes
/// slot and job. REQUIRES a claim that is not dead; does nothing for a slot that is not paid.
void clear_slot(Work& work, const ClaimId& id, const Claim& claim);

}  // namespace assay::contracts
