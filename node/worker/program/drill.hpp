// SPDX-License-Identifier: Apache-2.0
// Gives the worker of a devnet planted faults (frames.hpp, Drill): a slot's round with lies in it, for
// showing on a devnet that lies are found. The trace is true to the false states, as a clever cheat's
// would be.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "contracts/worker/frames.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::verifier {

/// Why the drills cannot be run on this job; empty when they can.
std::string drill_fault(const trainer::JobRunner& runner, const std::vector<worker::Drill>& drills);

/// As JobRunner::run_slot_round, with the drills applied. REQUIRES drill_fault to be empty.
base::Outcome<trainer::SlotRoundOutcome> run_drilled_round(
    trainer::JobRunner& runner, const trainer::BaseState& base, std::uint32_t round, std::uint32_t slot,
    std::optional<trainer::ResumePoint> resume, const std::vector<worker::Drill>& drills,
    const std::function<void(const trainer::BoundaryReport&)>& on_boundary, const trainer::Watch& watch,
    const trainer::CarriedState* carried = nullptr);

}  // namespace assay::verifier
