// SPDX-License-Identifier: Apache-2.0
// Gives `assay plan --measure`, and whoever chooses a profile, how fast this machine trains a job.
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

/// The first `steps` steps of `spec` (as open_job and LocalTrainingOptions::initial take them) on one slot.
/// Leaves a shortened job open in the worker.
base::Outcome<Measured> measure_training(WorkerClient& worker, program::JobSpec spec, const JobData& data,
                                         std::uint32_t steps,
                                         const frames::SharedDescriptor& initial = nullptr);

/// Trains the model of `spec` alone for about so many steps, without rounds: one slot that carries its state
/// on, and merges that change nothing. Held-out losses after each eighth of them. REQUIRES steps > 0. Leaves
/// a shortened job open in the worker.
base::Outcome<LocalTrainingResult> train_pilot(WorkerClient& worker, program::JobSpec spec,
                                               const JobData& data, std::uint32_t steps,
                                               const frames::SharedDescriptor& initial = nullptr);

struct ProfileSpeeds {
    double f32 = 0;  ///< tokens per second
    double i16 = 0;
    /// The faster one; a tie within the noise of such a short look goes to f32, which is fast on more
    /// machines.
    [[nodiscard]] program::Profile faster() const;
};

/// Both profiles in turns on a worker of this machine with one thread. `job` must start from its seed.
base::Outcome<ProfileSpeeds> measure_profiles(const JobFile& job);

}  // namespace assay::node
