// SPDX-License-Identifier: Apache-2.0
// Gives the families the embedding as a piece of a model: a row for each token and, in some models, one
// for each position.
#pragma once

#include <optional>
#include <string>

#include "contracts/program/models/parameter_list.hpp"
#include "contracts/program/models/program_builder.hpp"

namespace assay::program::models {

struct Embedding {
    std::string name;       ///< parameter name.weight: rows of tokens
    std::string positions;  ///< parameter positions.weight; empty where positions have no rows
    std::uint64_t vocabulary = 0;
    std::uint64_t context = 0;
    std::uint64_t width = 0;

    [[nodiscard]] std::string weight() const { return name + ".weight"; }
    void list_parameters(ParameterList& list) const;
    TensorId forward(ProgramBuilder& builder, TensorId inputs) const;
    /// `head_gradient`: of a head that shares the rows of tokens, its gradient of them; added at the end.
    void backward(ProgramBuilder& builder, TensorId inputs, TensorId dx,
                  std::optional<TensorId> head_gradient) const;
};

}  // namespace assay::program::models
