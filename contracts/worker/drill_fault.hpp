// SPDX-License-Identifier: Apache-2.0
// The fault that a drill of DrillKind::kOperator plants, in the form of a dispute's questions, for roles and
// the worker. The party that planted it then plays with the same false numbers.
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

/// The fault that the drill plants. REQUIRES that misplaced_fault is empty.
dispute::QuestionFault fault_of(const Drill& drill, const program::JobSpec& spec);

/// The fault for questions about a segment: that of the drill of this kind in the segment, else of any such
/// drill.
std::optional<dispute::QuestionFault> fault_among(std::span<const Drill> drills, std::uint32_t segment,
                                                  const program::JobSpec& spec);

}  // namespace assay::worker
