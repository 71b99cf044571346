// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/models/program_builder.hpp"

#include "contracts/base/check.hpp"

namespace assay::program::models {

ProgramBuilder::ProgramBuilder(const ModelConfig& model, Profile profile) {
    program_.model = model;
    program_.profile = profile;
    program_.parameters = parameter_tensors(model);
    declare_like_parameters("", TensorRole::kParameter);
}

void ProgramBuilder::declare_training(float clip_norm) {
    program_.clip_norm = clip_norm;
    first_moment_ = declare_like_parameters(".first_moment", TensorRole::kFirstMoment);
    second_moment_ = declare_like_parameters(".second_moment", TensorRole::kSecondMoment);
    first_gradient_ = declare_like_parameters(".gradient", TensorRole::kParameterGradient);
}

void ProgramBuilder::enter_layer(const std::string& layers, std::uint32_t number) {
    prefix_ = layers + std::to_string(number) + ".";
    layer_ = static_cast<std::int32_t>(number);
}

void ProgramBuilder::leave_layer() {
    prefix_.clear();
    layer_ = -1;
}

TensorId ProgramBuilder::tensor(std::string name, TensorRole role, Extent rows, std::uint64_t cols) {
    program_.tensors.push_back({std::move(name), role, rows, cols});
    return static_cast<TensorId>(program_.tensors.size() - 1);
}

std::size_t ProgramBuilder::declare_like_parameters(const std::string& suffix, TensorRole role) {
    const std::size_t first = program_.tensors.size();
    for (const TensorInfo& info : program_.parameters) {
        tensor(info.name + suffix, role, {info.rows, 0}, info.cols);
    }
    return first;
}

TensorId ProgramBuilder::rows(const std::string& name, TensorRole role, std::uint64_t cols) {
    return tensor(prefix_ + name, role, {0, model().context}, cols);
}

TensorId ProgramBuilder::head_rows(const std::string& name, TensorRole role, std::uint64_t cols) {
    return tensor(prefix_ + name, role, {0, std::uint64_t{model().heads} * model().context}, cols);
}

TensorId ProgramBuilder::more_gradient(const std::string& name, const std::string& like) {
    const Tensor& parameter_like = program_.tensors[parameter(like)];
    return tensor(prefix_ + name, TensorRole::kParameterGradient, parameter_like.rows, parameter_like.cols);
}

TensorId ProgramBuilder::scalar(const std::string& name) {
    return tensor(prefix_ + name, TensorRole::kScalar, {1, 0}, 1);
}

TensorId ProgramBuilder::words(const std::string& name) {
    return tensor(name, TensorRole::kTokens, {0, 1}, model().context);
}

TensorId ProgramBuilder::parameter(const std::string& name) const {
    return static_cast<TensorId>(tensor_index(program_.parameters, prefix_ + name));
}

TensorId ProgramBuilder::gradient(const std::string& name) const { return gradient(parameter(name)); }

Operator& ProgramBuilder::add(OperatorKind kind, const std::string& name, std::vector<TensorId> operands,
                              std::vector<TensorId> outputs) {
    const OperatorRow& row = row_of(kind);
    ASSAY_CHECK(row.accepts(program_.tensors, operands, outputs));
    const Flops count = row.flops({model(), program_.tensors, operands, outputs});
    program_.operators.push_back({kind, prefix_ + name, layer_, std::move(operands), std::move(outputs),
                                  count, row.rule(model().context)});
    return program_.operators.back();
}

}  // namespace assay::program::models
