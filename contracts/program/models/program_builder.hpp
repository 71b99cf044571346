// SPDX-License-Identifier: Apache-2.0
// ProgramBuilder appends tensors and operators to a program, for the pieces in this folder. The pieces define
// what a model consists of; the builder takes everything else from the operator table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "contracts/program/program.hpp"

namespace assay::program::models {

class ProgramBuilder {
public:
    /// A program that holds the parameters of `model` and no operator.
    ProgramBuilder(const ModelConfig& model, Profile profile);

    /// Adds what a step needs besides parameters: moments, gradients, the limit of clipping.
    void declare_training(float clip_norm);

    /// Until leave_layer(), every name that is given or looked up gets the prefix `layers` + number + ".".
    void enter_layer(const std::string& layers, std::uint32_t number);
    void leave_layer();

    [[nodiscard]] const ModelConfig& model() const { return program_.model; }
    [[nodiscard]] const std::vector<TensorInfo>& parameters() const { return program_.parameters; }

    /// A tensor of T rows per sequence.
    TensorId rows(const std::string& name, TensorRole role, std::uint64_t cols);
    /// A tensor of T rows per sequence and query head.
    TensorId head_rows(const std::string& name, TensorRole role, std::uint64_t cols);
    /// A second gradient of the parameter `like`, besides the one that gradient() names.
    TensorId more_gradient(const std::string& name, const std::string& like);
    TensorId scalar(const std::string& name);
    /// Tokens or targets.
    TensorId words(const std::string& name);

    /// A parameter of the model, its gradient and its moments, the latter by place in parameters().
    [[nodiscard]] TensorId parameter(const std::string& name) const;
    [[nodiscard]] TensorId gradient(const std::string& name) const;
    [[nodiscard]] TensorId gradient(std::size_t place) const { return at(first_gradient_, place); }
    [[nodiscard]] TensorId first_moment(std::size_t place) const { return at(first_moment_, place); }
    [[nodiscard]] TensorId second_moment(std::size_t place) const { return at(second_moment_, place); }

    /// Appends an operator. Operands and outputs must fit its row, from which FLOPs and rule follow. The
    /// result is valid until the next call.
    Operator& add(OperatorKind kind, const std::string& name, std::vector<TensorId> operands,
                  std::vector<TensorId> outputs);

    void set_loss(TensorId id) { program_.loss = id; }
    void set_norm(TensorId id) { program_.norm = id; }
    Program take() && { return std::move(program_); }

private:
    TensorId tensor(std::string name, TensorRole role, Extent rows, std::uint64_t cols);
    // One tensor like each parameter; the place of the first.
    std::size_t declare_like_parameters(const std::string& suffix, TensorRole role);
    static TensorId at(std::size_t first, std::size_t place) { return static_cast<TensorId>(first + place); }

    Program program_;
    std::string prefix_;
    std::int32_t layer_ = -1;
    std::size_t first_moment_ = 0, second_moment_ = 0, first_gradient_ = 0;
};

}  // namespace assay::program::models
