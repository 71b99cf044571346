// SPDX-License-Identifier: Apache-2.0
// Gives the worker of a devnet planted faults (frames.hpp, Drill): a slot's round with false results in it,
// to show that they are found. The trace is consistent with the false states, as a clever cheat's would be.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "contracts/worker/frames.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::verifier {

/// Returns why the drills cannot be run on this job in that round; empty when they can.
std::string drill_fault(const trainer::JobRunner& runner, const std::vector<worker::Drill>& drills,
                        std::uint32_t round);

/// As JobRunner::run_slot_round, with the drills applied. REQUIRES drill_fault to be empty. `slot_before`:
/// the slot that was trained here in the round before, for a fault that submits that work again; nothing:
/// this slot.
base::Outcome<trainer::SlotRoundOutcome> run_drilled_round(
    trainer::JobRunner& runner, const trainer::BaseState& base, std::uint32_t round, std::uint32_t slot,
    std::optional<trainer::ResumePoint> resume, const std::vector<worker::Drill>& drills,
    const std::function<void(const trainer::BoundaryReport&)>& on_boundary, const trainer::Watch& watch,
    const trainer::CarriedState* carried = nullptr, std::optional<std::uint32_t> slot_before = {});

}  // namespace assay::verifier
