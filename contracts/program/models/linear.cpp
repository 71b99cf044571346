// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/models/linear.hpp"

namespace assay::program::models {

void Linear::list_parameters(ParameterList& list, WritesTo destination) const {
    const bool is_in_out = layout == WeightLayout::kInOut;
    list.add_matrix(name + ".weight", is_in_out ? in : out, is_in_out ? out : in).writes_residual =
        destination == WritesTo::kResidual;
    if (has_bias) list.add_vector(name + ".bias", out);
}

TensorId Linear::forward(ProgramBuilder& builder, TensorId x) const {
    const TensorId y = builder.rows(name, TensorRole::kActivation, out);
    std::vector<TensorId> operands = {x, builder.parameter(name + ".weight")};
    if (has_bias) operands.push_back(builder.parameter(name + ".bias"));
    builder.add(OperatorKind::kLinear, name + ".forward", std::move(operands), {y}).layout = layout;
    return y;
}

TensorId Linear::backward(ProgramBuilder& builder, TensorId x, TensorId dy,
                          const std::string& dx_name) const {
    const TensorId dx = builder.rows(dx_name, TensorRole::kGradient, in);
    builder
        .add(OperatorKind::kLinearInputGradient, name + ".input.backward",
             {dy, builder.parameter(name + ".weight")}, {dx})
        .layout = layout;
    builder
        .add(OperatorKind::kLinearWeightGradient, name + ".weight.backward", {x, dy},
             {builder.gradient(name + ".weight")})
        .layout = layout;
    if (!has_bias) return dx;
    builder.add(OperatorKind::kLinearBiasGradient, name + ".bias.backward", {dy},
                {builder.gradient(name + ".bias")});
    return dx;
}

}  // namespace assay::program::models
