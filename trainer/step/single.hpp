// SPDX-License-Identifier: Apache-2.0
// Single operators: the grouping of a dispute, in which every tensor of a program can be looked at, and of
// devices that run no groups.
#pragma once

#include <cstdint>

#include "trainer/step/step_schedule.hpp"

namespace assay::trainer {

/// A kSingle group of operator `index`.
Group single_operator(const program::Program& program, std::uint32_t index);

/// Operators in program order, each a kSingle group: group i is operator i. The update alone stays one
/// kUpdate group: it changes everything or nothing. Nothing is rematerialised.
StepSchedule schedule_singly(const program::Program& program);

}  // namespace assay::trainer
