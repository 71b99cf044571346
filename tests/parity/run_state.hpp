// SPDX-License-Identifier: Apache-2.0
// RunState: where a training run is taken up again, and its file. All numbers little-endian:
//   "APARS001" ‖ canonical encoding of (job, step, cursor, parameters, microseconds, curve) ‖ parameters ‖
//   first moment ‖ second moment (binary32) ‖ hash of everything before it
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "tests/parity/parity_job.hpp"
#include "trainer/run/state.hpp"

namespace assay::parity {

struct RunState {
    std::string curve;               ///< its lines so far
    std::uint64_t microseconds = 0;  ///< that the run has taken
    trainer::SlotState slot;
};

/// Into job.state. Errors: kFailure.
base::Outcome<void> save_run_state(const ParityJob& job, const RunState& state);

/// Of job.state; nothing when there is no such file. kVerification when it is damaged or no such state,
/// kUsage when it is whole and of another job, kFailure when it cannot be read.
base::Outcome<std::optional<RunState>> load_run_state(const ParityJob& job);

}  // namespace assay::parity
