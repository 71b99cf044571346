// SPDX-License-Identifier: Apache-2.0
// Gives disputes, and devices that run no groups, single operators: the grouping in which every tensor of
// a program can be looked at.
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
