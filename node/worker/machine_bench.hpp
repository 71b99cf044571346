// SPDX-License-Identifier: Apache-2.0
// Gives `assay miner run --trade` a measurement of how fast this machine trains, before it has trained for
// any job.
#pragma once

#include <filesystem>

#include "contracts/program/job_spec.hpp"
#include "node/worker/worker_process.hpp"

namespace assay::node {

/// Work units per second of a worker with these options, including the rests of its duty. Trains a small
/// model for a few steps on its own tokens, which are written to `folder` and removed again. Takes a second
/// or two. Errors: those of WorkerProcess::start and open_job; kFailure when the folder cannot be written.
base::Outcome<double> bench_machine(const WorkerOptions& options, program::Profile profile,
                                    const std::filesystem::path& folder);

}  // namespace assay::node
