// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/models/embedding.hpp"

namespace assay::program::models {

void Embedding::list_parameters(ParameterList& list) const {
    list.add_matrix(weight(), vocabulary, width);
    if (!positions.empty()) list.add_matrix(positions + ".weight", context, width);
}

TensorId Embedding::forward(ProgramBuilder& builder, TensorId inputs) const {
    const TensorId x = builder.rows("embedding", TensorRole::kActivation, width);
    std::vector<TensorId> operands = {inputs, builder.parameter(weight())};
    if (!positions.empty()) operands.push_back(builder.parameter(positions + ".weight"));
    builder.add(OperatorKind::kEmbedding, "embedding.forward", std::move(operands), {x});
    return x;
}

void Embedding::backward(ProgramBuilder& builder, TensorId inputs, TensorId dx,
                         std::optional<TensorId> head_gradient) const {
    const TensorId rows = head_gradient ? builder.more_gradient(weight() + ".gradient.embedding", weight())
                                        : builder.gradient(weight());
    std::vector<TensorId> outputs = {rows};
    if (!positions.empty()) outputs.push_back(builder.gradient(positions + ".weight"));
    builder.add(OperatorKind::kEmbeddingGradient, "embedding.backward", {inputs, dx}, std::move(outputs));
    if (!head_gradient) return;
    builder.add(OperatorKind::kTiedGradient, name + ".tied.backward", {*head_gradient, rows},
                {builder.gradient(weight())});
}

}  // namespace assay::program::models
