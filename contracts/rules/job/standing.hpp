// SPDX-License-Identifier: Apache-2.0
// Gives the rules standing: the work of a miner that was found right, per class of work. It ends the
// probation in which every unit is audited. Work counts, not slots: many small slots are no proof of a
// large one. Internal.
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

/// Counts a slot of the job that was found right. Work for a job of one's own owner counts for nothing: its
/// buyer would pay itself for a good name. REQUIRES a registered miner.
void credit_work(State& state, const PublicKey& node, const JobTerms& job);

/// Everything that the miner earned so far counts no more, in any class.
void lose_standing(State& state, const PublicKey& node);

}  // namespace assay::contracts
