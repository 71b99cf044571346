// SPDX-License-Identifier: Apache-2.0
// The end of a model as a piece, for the families: logits by a matrix of its own or by the embedding's, and
// the mean loss.
#pragma once

#include <optional>
#include <string>

#include "contracts/program/models/parameter_list.hpp"
#include "contracts/program/models/program_builder.hpp"

namespace assay::program::models {

struct LossHead {
    std::string weight;    ///< parameter: [V,W]
    bool is_tied = false;  ///< the weight is the embedding's
    std::uint64_t vocabulary = 0;
    std::uint64_t width = 0;

    /// The tensors that the forward pass leaves for the backward pass.
    struct Rows {
        TensorId h = 0;
        TensorId exp = 0;
        TensorId sum = 0;
    };
    struct Gradients {
        TensorId dh = 0;
        std::optional<TensorId> of_tied_weight;  ///< to be added to the embedding's
    };

    void list_parameters(ParameterList& list) const;
    [[nodiscard]] Rows forward(ProgramBuilder& builder, TensorId h, TensorId targets) const;
    /// The gradient of h is called `dh_name`.
    [[nodiscard]] Gradients backward(ProgramBuilder& builder, const Rows& rows, TensorId targets,
                                     const std::string& dh_name) const;
};

}  // namespace assay::program::models
