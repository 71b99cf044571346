// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "contracts/program/program_builder.hpp"

namespace assay::program {

Program build_step_program(const ModelConfig& model, const TrainConfig& train, Profile profile) {
    ProgramBuilder builder(model, profile);
    builder.step(train);
    return std::move(builder).take();
}

Program build_evaluate_program(const ModelConfig& model, Profile profile) {
    ProgramBuilder builder(model, profile);
    builder.forward();
    return std::move(builder).take();
}

}  // namespace assay::program
