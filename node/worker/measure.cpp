// SPDX-License-Identifier: Apache-2.0
#include "node/worker/measure.hpp"

#include <algorithm>

#include "contracts/program/limits.hpp"

namespace assay::node {

namespace {
constexpr std::uint32_t kMeasuredSteps = 4;
constexpr int kTurns = 2;
constexpr double kNoise = 1.05;
}  // namespace

base::Outcome<Measured> measure_training(WorkerClient& worker, program::JobSpec spec, const JobData& data,
                                         std::uint32_t steps, const frames::SharedDescriptor& initial) {
    spec.slots = 1;
    spec.rounds = 1;
    spec.train.inner_steps = std::min(spec.train.inner_steps, steps);
    spec.security.segment_steps = spec.train.inner_steps;
    ASSAY_ASSIGN(const auto opened, open_job(worker, spec, data));
    LocalTrainingOptions options;
    options.initial = initial;
    options.held_out_sequences = 1;
    ASSAY_ASSIGN(const auto result, train_alone(worker, spec, options));
    return Measured{result.tokens_per_second, opened};
}

base::Outcome<LocalTrainingResult> train_pilot(WorkerClient& worker, program::JobSpec spec,
                                               const JobData& data, std::uint32_t steps,
                                               const frames::SharedDescriptor& initial) {
    constexpr std::uint32_t kLosses = 8;
    spec.slots = 1;
    spec.rounds = std::min(steps, kLosses);
    spec.train.inner_steps = std::min(steps / spec.rounds, program::kMaxInnerSteps);
    spec.train.outer_learning_rate = 1.0F;
    spec.train.outer_momentum = 0.0F;
    spec.train.max_update_norm = 0.0F;
    spec.inner_state = program::InnerState::kCarried;
    spec.security = {.segment_steps = spec.train.inner_steps};
    ASSAY_TRY(open_job(worker, spec, data));
    LocalTrainingOptions options;
    options.initial = initial;
    options.held_out_sequences = program::kHeldOutSequences;
    return train_alone(worker, spec, options);
}

program::Profile ProfileSpeeds::faster() const {
    return i16 > kNoise * f32 ? program::Profile::kI16 : program::Profile::kF32;
}

base::Outcome<ProfileSpeeds> measure_profiles(const JobFile& job) {
    WorkerOptions options;
    options.threads = 1;
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start(options));
    const JobData data{job.train.string(), job.held_out.string()};
    ProfileSpeeds speeds;
    for (int turn = 0; turn < kTurns; ++turn) {
        for (const program::Profile profile : {program::Profile::kF32, program::Profile::kI16}) {
            program::JobSpec spec = job.spec;
            spec.profile = profile;
            ASSAY_ASSIGN(const Measured found, measure_training(*worker, spec, data, kMeasuredSteps));
            double& best = profile == program::Profile::kF32 ? speeds.f32 : speeds.i16;
            best = std::max(best, found.tokens_per_second);
        }
    }
    return speeds;
}

}  // namespace assay::node
