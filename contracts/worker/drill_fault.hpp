// SPDX-License-Identifier: Apache-2.0
// Gives roles and the worker the fault that a drill of DrillKind::kOperator plants, as a dispute's questions
// name it: whoever planted it plays with the same false numbers.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "contracts/dispute/question.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/worker/frames.hpp"

namespace assay::worker {

/// Why the job has no such operator, step or element; empty when it has. REQUIRES a segment of the job.
std::string misplaced_fault(const Drill& drill, const program::JobSpec& spec);

/// REQUIRES that misplaced_fault is empty.
dispute::QuestionFault fault_of(const Drill& drill, const program::JobSpec& spec);

/// The fault that matters to questions about a segment: of the drills of this kind the one in it, else any.
std::optional<dispute::QuestionFault> fault_among(std::span<const Drill> drills, std::uint32_t segment,
                                                  const program::JobSpec& spec);

}  // namespace assay::worker
