// SPDX-License-Identifier: Apache-2.0
// The feed-forward half of a layer as a piece of a model, for the families: up, an activation, down.
#pragma once

#include <string>

#include "contracts/program/models/linear.hpp"

namespace assay::program::models {

/// The operators of a kind of activation.
struct ActivationOperators {
    OperatorKind forward;
    OperatorKind gradient;
};
inline constexpr ActivationOperators kGeluOperators{OperatorKind::kGelu, OperatorKind::kGeluGradient};
/// Its input is twice as wide as its output: gate and up.
inline constexpr ActivationOperators kSwiGluOperators{OperatorKind::kSwiGlu, OperatorKind::kSwiGluGradient};

struct Mlp {
    std::string name;        ///< "mlp"
    Linear up;               ///< makes everything that the activation reads
    std::string activation;  ///< "mlp.gelu"
    ActivationOperators operators;
    Linear down;

    /// The tensors that the forward pass leaves for the backward pass.
    struct Rows {
        TensorId x = 0;
        TensorId up = 0;
        TensorId activation = 0;
    };

    void list_parameters(ParameterList& list) const;
    /// The layer's output; `rows` is written.
    TensorId forward(ProgramBuilder& builder, TensorId x, Rows& rows) const;
    /// The gradient of x, called `dx_name`.
    TensorId backward(ProgramBuilder& builder, const Rows& rows, TensorId dy,
                      const std::string& dx_name) const;
};

}  // namespace assay::program::models
