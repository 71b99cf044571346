// SPDX-License-Identifier: Apache-2.0
// A linear layer as a piece of a model, for the families: y = x·W, with or without a bias.
#pragma once

#include <string>

#include "contracts/program/models/parameter_list.hpp"
#include "contracts/program/models/program_builder.hpp"

namespace assay::program::models {

/// Where a layer's output goes.
enum class WritesTo : std::uint8_t {
    kLayer = 1,  ///< to what follows in its layer
    kResidual,   ///< it is added to the residual stream
};

struct Linear {
    std::string name;  ///< parameters name.weight and, with a bias, name.bias
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    WeightLayout layout = WeightLayout::kInOut;
    bool has_bias = false;

    void list_parameters(ParameterList& list, WritesTo destination = WritesTo::kLayer) const;
    /// y, [T,out].
    TensorId forward(ProgramBuilder& builder, TensorId x) const;
    /// The gradient of x, called `dx_name`; those of weight and bias go to their accumulators.
    TensorId backward(ProgramBuilder& builder, TensorId x, TensorId dy, const std::string& dx_name) const;
};

}  // namespace assay::program::models
