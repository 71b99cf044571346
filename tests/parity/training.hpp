// SPDX-License-Identifier: Apache-2.0
// Training: one run of ours as a curve, which can stop and be taken up again.
#pragma once

#include "contracts/base/error.hpp"
#include "tests/parity/parity_job.hpp"

namespace assay::parity {

/// Writes the curve to job.out (main.cpp has the format). With job.state the run begins where that file says,
/// saves itself there, and removes it when the whole curve is on the disk. Errors of JobRunner and of
/// load_run_state; kFailure when the run diverged.
base::Outcome<void> train(ParityJob job);

}  // namespace assay::parity
