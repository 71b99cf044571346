// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/models/mlp.hpp"

namespace assay::program::models {

void Mlp::list_parameters(ParameterList& list) const {
    up.list_parameters(list);
    down.list_parameters(list, WritesTo::kResidual);
}

TensorId Mlp::forward(ProgramBuilder& builder, TensorId x, Rows& rows) const {
    rows.x = x;
    rows.up = up.forward(builder, x);
    rows.activation = builder.rows(activation, TensorRole::kActivation, down.in);
    builder.add(operators.forward, activation + ".forward", {rows.up}, {rows.activation});
    return down.forward(builder, rows.activation);
}

TensorId Mlp::backward(ProgramBuilder& builder, const Rows& rows, TensorId dy,
                       const std::string& dx_name) const {
    const TensorId dactivation = down.backward(builder, rows.activation, dy, activation + ".gradient");
    const TensorId dup = builder.rows(up.name + ".gradient", TensorRole::kGradient, up.out);
    builder.add(operators.gradient, activation + ".backward", {rows.up, dactivation}, {dup});
    return up.backward(builder, rows.x, dup, dx_name);
}

}  // namespace assay::program::models
