// SPDX-License-Identifier: Apache-2.0
// A norm of rows as a piece of a model, for the families: LayerNorm or RMSNorm.
#pragma once

#include <string>

#include "contracts/program/models/parameter_list.hpp"
#include "contracts/program/models/program_builder.hpp"

namespace assay::program::models {

/// The operators of a kind of norm.
struct NormOperators {
    OperatorKind forward;
    OperatorKind input_gradient;
    OperatorKind parameter_gradient;
    bool is_centred = false;  ///< subtracts the mean, and has a bias
};
inline constexpr NormOperators kLayerNormOperators{
    .forward = OperatorKind::kLayerNorm,
    .input_gradient = OperatorKind::kLayerNormInputGradient,
    .parameter_gradient = OperatorKind::kLayerNormParameterGradient,
    .is_centred = true};
inline constexpr NormOperators kRmsNormOperators{
    .forward = OperatorKind::kRmsNorm,
    .input_gradient = OperatorKind::kRmsNormInputGradient,
    .parameter_gradient = OperatorKind::kRmsNormParameterGradient};

struct Norm {
    std::string name;  ///< parameters name.weight and, if it is centred, name.bias
    NormOperators operators;
    std::uint64_t width = 0;

    /// The tensors that the forward pass leaves for the backward pass.
    struct Rows {
        TensorId x = 0;
        TensorId y = 0;
        std::vector<TensorId> statistics;  ///< [mean,] rstd
    };

    void list_parameters(ParameterList& list) const;
    [[nodiscard]] Rows forward(ProgramBuilder& builder, TensorId x) const;
    /// The gradient of x, called `dx_name`; those of the parameters go to their accumulators.
    TensorId backward(ProgramBuilder& builder, const Rows& rows, TensorId dy,
                      const std::string& dx_name) const;
};

}  // namespace assay::program::models
