// SPDX-License-Identifier: Apache-2.0
// A tiny job whose root every sound machine and build agrees on (trainer/worker/self_test.hpp).
#pragma once

#include "trainer/job_runner.hpp"

namespace assay::verifier {

/// Trains one slot for one round of two segments, merges it and evaluates the result: every operator runs.
/// The hash of the trace, the merged root and the loss bits; zero when the runner refuses the job.
base::Hash256 self_test_root(const trainer::RunnerOptions& options);

}  // namespace assay::verifier
