// SPDX-License-Identifier: Apache-2.0
// Gives `assay plan --measure` and the choice of a profile the speed at which this machine trains a job.
#pragma once

#include <cstdint>

#include "contracts/program/job_spec.hpp"
#include "node/wire/descriptor.hpp"
#include "node/worker/local_training.hpp"

namespace assay::node {

struct Measured {
    double tokens_per_second = 0;
    frames::Opened opened;
};

/// Measures the first `steps` steps of `spec` on one slot. `data` and `initial` are as for open_job and
/// LocalTrainingOptions::initial. Leaves a shortened job open in the worker.
base::Outcome<Measured> measure_training(WorkerClient& worker, program::JobSpec spec, const JobData& data,
                                         std::uint32_t steps,
                                         const frames::SharedDescriptor& initial = nullptr);

/// Trains the model of `spec` for about `steps` steps as if there were no rounds: one slot carries its state
/// on, and merges change nothing. Computes the held-out loss after each eighth of the steps. REQUIRES steps >
/// 0. Leaves a shortened job open in the worker.
base::Outcome<LocalTrainingResult> train_pilot(WorkerClient& worker, program::JobSpec spec,
                                               const JobData& data, std::uint32_t steps,
                                               const frames::SharedDescriptor& initial = nullptr);

struct ProfileSpeeds {
    double f32 = 0;  ///< tokens per second
    double i16 = 0;
    /// The faster profile. A tie within the noise of such a short measurement goes to f32, which is fast on
    /// more machines.
    [[nodiscard]] program::Profile faster() const;
};

/// Measures both profiles in turns on a worker of this machine with one thread. REQUIRES that `job` starts
/// from its seed.
base::Outcome<ProfileSpeeds> measure_profiles(const JobFile& job);

}  // namespace assay::node
