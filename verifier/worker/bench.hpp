// SPDX-License-Identifier: Apache-2.0
// Rows of `assay bench gemm|train`: our kernels and steps beside the peer's, alternated in one run.
#pragma once

#include <atomic>
#include <string>

#include "contracts/base/result.hpp"
#include "trainer/job_runner.hpp"
#include "trainer/worker/frames.hpp"

namespace assay::verifier {

/// A JSON array of rows (frames.hpp, Benched). Each value is the median of runs of ours; without a peer,
/// `peer` is empty and `peer_value` and `ratio` are null. kCancelled when `cancel` is set between two runs.
base::Result<std::string, trainer::worker::Refusal> bench_rows(const trainer::worker::Bench& request,
                                                               const trainer::RunnerOptions& options,
                                                               const std::atomic<bool>& cancel);

}  // namespace assay::verifier
