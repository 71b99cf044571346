// SPDX-License-Identifier: Apache-2.0
// The whole escrow of a job, for views, audits and invariants: the job's record holds only a part of it.
#pragma once

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/round/tables.hpp"
#include "contracts/rules/state/supply.hpp"

namespace assay::contracts {

/// The buyer's money that is neither spent nor given back: what the job may still promise, and what is held
/// for undecided claims. What a settled claim holds during its window counts as spent.
inline Amount escrow_of(const StateView& state, const Job& job) {
    Amount escrow = job.escrow;
    const auto round = read_round_progress(state, job.id, job.round);
    if (round && round->phase == RoundPhase::kSettled) return escrow;
    for (const auto& [id, claim] : list_claims(state, job.id, job.round))
        escrow = saturating_sum(escrow, claim.held);
    return escrow;
}

}  // namespace assay::contracts
