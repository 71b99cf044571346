// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/models/head.hpp"

namespace assay::program::models {

void LossHead::list_parameters(ParameterList& list) const {
    if (!is_tied) list.add_matrix(weight, vocabulary, width);
}

LossHead::Rows LossHead::forward(ProgramBuilder& builder, TensorId h, TensorId targets) const {
    const auto column = [&](const char* name) { return builder.rows(name, TensorRole::kActivation, 1); };
    const TensorId logits = builder.rows("lm_head", TensorRole::kActivation, vocabulary);
    builder.add(OperatorKind::kHead, "lm_head.forward", {h, builder.parameter(weight)}, {logits});
    const TensorId max = column("loss.max");
    builder.add(OperatorKind::kLossMax, "loss.max.forward", {logits}, {max});
    const TensorId exp = builder.rows("loss.exp", TensorRole::kActivation, vocabulary);
    builder.add(OperatorKind::kLossExp, "loss.exp.forward", {logits, max}, {exp});
    const TensorId sum = column("loss.sum");
    builder.add(OperatorKind::kLossSum, "loss.sum.forward", {exp}, {sum});
    const TensorId losses = column("loss.tokens");
    builder.add(OperatorKind::kLossTokens, "loss.tokens.forward", {logits, max, sum, targets}, {losses});
    const TensorId loss = builder.scalar("loss");
    builder.add(OperatorKind::kLossTotal, "loss.total.forward", {losses}, {loss});
    builder.set_loss(loss);
    return {h, exp, sum};
}

LossHead::Gradients LossHead::backward(ProgramBuilder& builder, const Rows& rows, TensorId targets,
                                       const std::string& dh_name) const {
    const TensorId dlogits = builder.rows("lm_head.gradient", TensorRole::kGradient, vocabulary);
    builder.add(OperatorKind::kLossGradient, "loss.backward", {rows.exp, rows.sum, targets}, {dlogits});
    Gradients out;
    out.dh = builder.rows(dh_name, TensorRole::kGradient, width);
    builder.add(OperatorKind::kHeadInputGradient, "lm_head.input.backward",
                {dlogits, builder.parameter(weight)}, {out.dh});
    const TensorId dweight =
        is_tied ? builder.more_gradient(weight + ".gradient.head", weight) : builder.gradient(weight);
    if (is_tied) out.of_tied_weight = dweight;
    builder.add(OperatorKind::kHeadWeightGradient, "lm_head.weight.backward", {dlogits, rows.h}, {dweight});
    return out;
}

}  // namespace assay::program::models
