// SPDX-License-Identifier: Apache-2.0
// The embedding as a piece of a model, for the families: a row for each token and, in some models, one for
// each position.
#pragma once

#include <optional>
#include <string>

#include "contracts/program/models/parameter_list.hpp"
#include "contracts/program/models/program_builder.hpp"

namespace assay::program::models {

struct Embedding {
    std::string name;       ///< parameter name.weight: rows of tokens
    std::string positions;  ///< parameter positions.weight; empty when positions have no rows
    std::uint64_t vocabulary = 0;
    std::uint64_t context = 0;
    std::uint64_t width = 0;

    [[nodiscard]] std::string weight() const { return name + ".weight"; }
    void list_parameters(ParameterList& list) const;
    TensorId forward(ProgramBuilder& builder, TensorId inputs) const;
    /// `head_gradient` is the gradient of the rows of tokens from a head that shares them; it is added at the
    /// end.
    void backward(ProgramBuilder& builder, TensorId inputs, TensorId dx,
                  std::optional<TensorId> head_gradient) const;
};

}  // namespace assay::program::models
