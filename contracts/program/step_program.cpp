// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/step_program.hpp"

namespace assay::program {

namespace {

/// What a step program follows from, and one.
struct BuiltProgram {
    ModelConfig model;
    TrainConfig train;
    Profile profile = Profile::kF32;
    std::shared_ptr<const Program> program;
};

}  // namespace

std::shared_ptr<const Program> step_program(const JobSpec& spec) {
    thread_local BuiltProgram last;
    if (last.program == nullptr || last.model != spec.model || last.train != spec.train ||
        last.profile != spec.profile) {
        auto built = build_step_program(spec.model, spec.train, spec.profile);
        last = {spec.model, spec.train, spec.profile, std::make_shared<const Program>(std::move(built))};
    }
    return last.program;
}

}  // namespace assay::program
