// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/step_program.hpp"

#include <tuple>

#include "contracts/program/recent.hpp"

namespace assay::program {

namespace {

/// What a step program follows from.
using ProgramKey = std::tuple<ModelConfig, TrainConfig, Profile>;

// Messages of several jobs with many layers stand in turns in a block, and each reads its job's program. One
// of 1,024 layers takes 10 MB (GPT-2) or 23 MB (Llama), so that few are kept.
constexpr std::size_t kPrograms = 8;

}  // namespace

std::shared_ptr<const Program> step_program(const JobSpec& spec) {
    thread_local Recent<ProgramKey, std::shared_ptr<const Program>, kPrograms> built;
    return built.get({spec.model, spec.train, spec.profile}, [&] {
        return std::make_shared<const Program>(build_step_program(spec.model, spec.train, spec.profile));
    });
}

}  // namespace assay::program
