// SPDX-License-Identifier: Apache-2.0
// Gives rules step_program(), the step program of a job, which is built once for many questions about it.
#pragma once

#include <memory>

#include "contracts/program/job_spec.hpp"
#include "contracts/program/program.hpp"

namespace assay::program {

/// build_step_program() of the job. A program of 1,024 layers takes some 20 ms to build, and a block may hold
/// hundreds of reveals and moves that need it: each thread remembers the last few that it built. The value is
/// that of the arguments in any case.
std::shared_ptr<const Program> step_program(const JobSpec& spec);

}  // namespace assay::program
