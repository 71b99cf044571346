// SPDX-License-Identifier: Apache-2.0
// A miner's standing, for the rules: its work that was found right, per class of work. Enough standing ends
// the probation, in which every unit is audited. Work counts, not slots: many small slots are no proof of a
// large one. Internal to the rules.
#pragma once

#include "contracts/rules/identity/records.hpp"
#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// The class of a job's slots.
WorkClass class_of(const JobTerms& job);

/// Work units found right in this class since the miner last lost its standing.
std::uint64_t verified_work(const StateView& state, const PublicKey& node, const Miner& miner,
                            const WorkClass& kind);

/// True until the miner has Params::probation_rounds times the work of one of the job's slots in its class.
bool is_newcomer(const StateView& state, const Params& params, const PublicKey& node, const JobTerms& job);

/// Counts a slot of the job that was found right. Work for a job of the miner's own owner does not count,
/// because the buyer would pay itself for standing. REQUIRES a registered miner.
void credit_work(State& state, const PublicKey& node, const JobTerms& job);

/// The miner loses the standing that it earned so far, in every class.
void lose_standing(State& state, const PublicKey& node);

}  // namespace assay::contracts
