// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/models/attention.hpp"

namespace assay::program::models {

void Attention::list_parameters(ParameterList& list) const {
    qkv.list_parameters(list);
    out.list_parameters(list, WritesTo::kResidual);
}

TensorId Attention::forward(ProgramBuilder& builder, TensorId x, Rows& rows) const {
    rows.x = x;
    rows.qkv = qkv.forward(builder, x);
    mix(builder, rows);
    return out.forward(builder, rows.values);
}

TensorId Attention::backward(ProgramBuilder& builder, const Rows& rows, TensorId dy,
                             const std::string& dx_name) const {
    const TensorId dvalues = out.backward(builder, rows.values, dy, name + ".values.gradient");
    const TensorId dqkv = mix_backward(builder, rows, dvalues);
    return qkv.backward(builder, rows.x, dqkv, dx_name);
}

void Attention::mix(ProgramBuilder& builder, Rows& rows) const {
    const std::uint64_t context = builder.model().context;
    const auto square = [&](const char* what) {
        return builder.head_rows(name + what, TensorRole::kActivation, context);
    };
    const auto column = [&](const char* what) {
        return builder.head_rows(name + what, TensorRole::kActivation, 1);
    };
    if (is_rotary) builder.add(OperatorKind::kRope, name + ".rope.forward", {rows.qkv}, {rows.qkv});
    const TensorId scores = square(".scores");
    builder.add(OperatorKind::kAttentionScores, name + ".scores.forward", {rows.qkv}, {scores});
    const TensorId max = column(".max");
    builder.add(OperatorKind::kSoftmaxMax, name + ".max.forward", {scores}, {max});
    const TensorId exp = square(".exp");
    builder.add(OperatorKind::kSoftmaxExp, name + ".exp.forward", {scores, max}, {exp});
    const TensorId sum = column(".sum");
    builder.add(OperatorKind::kSoftmaxSum, name + ".sum.forward", {exp}, {sum});
    rows.probabilities = square(".probabilities");
    builder.add(OperatorKind::kSoftmaxDivide, name + ".probabilities.forward", {exp, sum},
                {rows.probabilities});
    rows.values = builder.rows(name + ".values", TensorRole::kActivation, out.in);
    builder.add(OperatorKind::kAttentionValues, name + ".values.forward", {rows.probabilities, rows.qkv},
                {rows.values});
}

TensorId Attention::mix_backward(ProgramBuilder& builder, const Rows& rows, TensorId dvalues) const {
    const std::uint64_t context = builder.model().context;
    const auto head_rows = [&](const char* what, std::uint64_t cols) {
        return builder.head_rows(name + what, TensorRole::kGradient, cols);
    };
    const TensorId dqkv = builder.rows(qkv.name + ".gradient", TensorRole::kGradient, qkv.out);
    builder.add(OperatorKind::kAttentionValueGradient, name + ".value.backward",
                {rows.probabilities, dvalues}, {dqkv});
    const TensorId dp = head_rows(".probabilities.gradient", context);
    builder.add(OperatorKind::kAttentionProbabilityGradient, name + ".probabilities.backward",
                {dvalues, rows.qkv}, {dp});
    const TensorId dot = head_rows(".dot", 1);
    builder.add(OperatorKind::kSoftmaxDot, name + ".dot.backward", {dp, rows.probabilities}, {dot});
    const TensorId ds = head_rows(".scores.gradient", context);
    builder.add(OperatorKind::kSoftmaxGradient, name + ".scores.backward", {dp, rows.probabilities, dot},
                {ds});
    builder.add(OperatorKind::kAttentionQueryGradient, name + ".query.backward", {ds, rows.qkv}, {dqkv});
    builder.add(OperatorKind::kAttentionKeyGradient, name + ".key.backward", {ds, rows.qkv}, {dqkv});
    if (is_rotary) builder.add(OperatorKind::kRopeGradient, name + ".rope.backward", {dqkv}, {dqkv});
    return dqkv;
}

}  // namespace assay::program::models
