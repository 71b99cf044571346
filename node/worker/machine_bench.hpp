// SPDX-License-Identifier: Apache-2.0
// Gives `assay miner run --trade` a look at how fast this machine trains, before any job has shown it.
#pragma once

#include <filesystem>

#include "contracts/program/job_spec.hpp"
#include "node/worker/worker_process.hpp"

namespace assay::node {

/// Work units that a worker of these options does in a second, rests of its duty included: a few steps of a
/// small model on tokens of its own, written to `folder` and removed again. Takes a second or two. Errors:
/// those of WorkerProcess::start and open_job; kFailure when the folder cannot be written.
base::Outcome<double> bench_machine(const WorkerOptions& options, program::Profile profile,
                                    const std::filesystem::path& folder);

}  // namespace assay::node
