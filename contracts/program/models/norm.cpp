// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/models/norm.hpp"

namespace assay::program::models {

void Norm::list_parameters(ParameterList& list) const {
    list.add_vector(name + ".weight", width);
    if (operators.is_centred) list.add_vector(name + ".bias", width);
}

Norm::Rows Norm::forward(ProgramBuilder& builder, TensorId x) const {
    Rows rows{.x = x, .y = builder.rows(name, TensorRole::kActivation, width), .statistics = {}};
    std::vector<TensorId> operands = {x, builder.parameter(name + ".weight")};
    if (operators.is_centred) {
        operands.push_back(builder.parameter(name + ".bias"));
        rows.statistics.push_back(builder.rows(name + ".mean", TensorRole::kActivation, 1));
    }
    rows.statistics.push_back(builder.rows(name + ".rstd", TensorRole::kActivation, 1));
    std::vector<TensorId> outputs = {rows.y};
    outputs.insert(outputs.end(), rows.statistics.begin(), rows.statistics.end());
    builder.add(operators.forward, name + ".forward", std::move(operands), std::move(outputs));
    return rows;
}

TensorId Norm::backward(ProgramBuilder& builder, const Rows& rows, TensorId dy,
                        const std::string& dx_name) const {
    const TensorId dx = builder.rows(dx_name, TensorRole::kGradient, width);
    std::vector<TensorId> operands = {dy, rows.x};
    operands.insert(operands.end(), rows.statistics.begin(), rows.statistics.end());
    std::vector<TensorId> with_gain = operands;
    with_gain.push_back(builder.parameter(name + ".weight"));
    builder.add(operators.input_gradient, name + ".input.backward", std::move(with_gain), {dx});
    std::vector<TensorId> gradients = {builder.gradient(name + ".weight")};
    if (operators.is_centred) gradients.push_back(builder.gradient(name + ".bias"));
    builder.add(operators.parameter_gradient, name + ".parameters.backward", std::move(operands),
                std::move(gradients));
    return dx;
}

}  // namespace assay::program::models
