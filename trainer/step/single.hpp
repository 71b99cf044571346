// SPDX-License-Identifier: Apache-2.0
// The grouping of single operators, in which every tensor of a program lies in memory. Disputes use it, and
// devices that run no groups.
#pragma once

#include <cstdint>

#include "trainer/step/step_schedule.hpp"

namespace assay::trainer {

/// A kSingle group with operator `index` only.
Group single_operator(const program::Program& program, std::uint32_t index);

/// Operators in program order, each a kSingle group: group i is operator i. Only the operators of the update
/// form one kUpdate group, which changes everything or nothing. Nothing is rematerialised.
StepSchedule schedule_singly(const program::Program& program);

}  // namespace assay::trainer
