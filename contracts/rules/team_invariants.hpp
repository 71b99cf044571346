// SPDX-License-Identifier: Apache-2.0
// The invariant of a job that a team's member submitted. Internal to the rules.
#pragma once

#include "contracts/rules/claim_invariants.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

/// Checks that what a job took from its sponsor counts against its member's total, until the job has ended.
inline InvariantResult check_member(const StateView& state, const Job& job) {
    if (job.additions.by_member.is_zero() || job.phase == JobPhase::kEnded) return {};
    const auto member = read_team_member(state, job.buyer, submitter_of(state, job));
    if (member && member->taken >= job.additions.by_member) return {};
    return broken("what job " + job.id.brief() + " took is not counted for its team's member");
}

}  // namespace assay::contracts
