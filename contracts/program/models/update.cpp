// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/models/update.hpp"

namespace assay::program::models {

void add_update(ProgramBuilder& builder) {
    const std::vector<TensorInfo>& parameters = builder.parameters();
    std::vector<TensorId> gradients;
    for (std::size_t i = 0; i < parameters.size(); ++i) gradients.push_back(builder.gradient(i));
    const TensorId norm = builder.scalar("norm");
    builder.add(OperatorKind::kGlobalNorm, "norm", gradients, {norm});
    builder.set_norm(norm);
    const TensorId clip = builder.scalar("clip");
    builder.add(OperatorKind::kClip, "clip", {norm}, {clip});
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const TensorId parameter = builder.parameter(parameters[i].name);
        const TensorId m = builder.first_moment(i);
        const TensorId v = builder.second_moment(i);
        builder.add(OperatorKind::kAdamW, parameters[i].name + ".adamw",
                    {gradients[i], clip, parameter, m, v}, {parameter, m, v});
    }
}

}  // namespace assay::program::models
