// SPDX-License-Identifier: Apache-2.0
// Causal attention as a piece of a model, for the families. One product makes queries, keys and values;
// another mixes the heads. Query heads may share keys and values; queries and keys may be turned by their
// positions.
#pragma once

#include <string>

#include "contracts/program/models/linear.hpp"

namespace assay::program::models {

struct Attention {
    std::string name;  ///< of the operators between the two products
    Linear qkv;
    Linear out;
    bool is_rotary = false;

    /// The tensors that the forward pass leaves for the backward pass.
    struct Rows {
        TensorId x = 0;
        TensorId qkv = 0;
        TensorId probabilities = 0;
        TensorId values = 0;
    };

    void list_parameters(ParameterList& list) const;
    /// The layer's output; `rows` is written.
    TensorId forward(ProgramBuilder& builder, TensorId x, Rows& rows) const;
    /// The gradient of x, called `dx_name`.
    TensorId backward(ProgramBuilder& builder, const Rows& rows, TensorId dy,
                      const std::string& dx_name) const;

private:
    void mix(ProgramBuilder& builder, Rows& rows) const;
    TensorId mix_backward(ProgramBuilder& builder, const Rows& rows, TensorId dvalues) const;
};

}  // namespace assay::program::models
