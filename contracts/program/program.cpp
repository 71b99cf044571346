// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/program.hpp"

#include "contracts/base/wide.hpp"

namespace assay::program {

namespace {
constexpr std::uint64_t kOperationsPerUnit = 1'000'000'000;
}  // namespace

std::string_view to_text(OperatorKind kind) {
    switch (kind) {
        case OperatorKind::kEmbedding: return "embedding";
        case OperatorKind::kLayerNorm: return "layer_norm";
        case OperatorKind::kRmsNorm: return "rms_norm";
        case OperatorKind::kLinear: return "linear";
        case OperatorKind::kRope: return "rope";
        case OperatorKind::kAttentionScores: return "attention_scores";
        case OperatorKind::kSoftmaxMax: return "softmax_max";
        case OperatorKind::kSoftmaxExp: return "softmax_exp";
        case OperatorKind::kSoftmaxSum: return "softmax_sum";
        case OperatorKind::kSoftmaxDivide: return "softmax_divide";
        case OperatorKind::kAttentionValues: return "attention_values";
        case OperatorKind::kGelu: return "gelu";
        case OperatorKind::kSwiGlu: return "swiglu";
        case OperatorKind::kAdd: return "add";
        case OperatorKind::kHead: return "head";
        case OperatorKind::kLossMax: return "loss_max";
        case OperatorKind::kLossExp: return "loss_exp";
        case OperatorKind::kLossSum: return "loss_sum";
        case OperatorKind::kLossTokens: return "loss_tokens";
        case OperatorKind::kLossTotal: return "loss_total";
        case OperatorKind::kLossGradient: return "loss_gradient";
        case OperatorKind::kHeadInputGradient: return "head_input_gradient";
        case OperatorKind::kHeadWeightGradient: return "head_weight_gradient";
        case OperatorKind::kLayerNormInputGradient: return "layer_norm_input_gradient";
        case OperatorKind::kLayerNormParameterGradient: return "layer_norm_parameter_gradient";
        case OperatorKind::kRmsNormInputGradient: return "rms_norm_input_gradient";
        case OperatorKind::kRmsNormParameterGradient: return "rms_norm_parameter_gradient";
        case OperatorKind::kLinearInputGradient: return "linear_input_gradient";
        case OperatorKind::kLinearWeightGradient: return "linear_weight_gradient";
        case OperatorKind::kLinearBiasGradient: return "linear_bias_gradient";
        case OperatorKind::kGeluGradient: return "gelu_gradient";
        case OperatorKind::kSwiGluGradient: return "swiglu_gradient";
        case OperatorKind::kRopeGradient: return "rope_gradient";
        case OperatorKind::kAttentionValueGradient: return "attention_value_gradient";
        case OperatorKind::kAttentionProbabilityGradient: return "attention_probability_gradient";
        case OperatorKind::kSoftmaxDot: return "softmax_dot";
        case OperatorKind::kSoftmaxGradient: return "softmax_gradient";
        case OperatorKind::kAttentionQueryGradient: return "attention_query_gradient";
        case OperatorKind::kAttentionKeyGradient: return "attention_key_gradient";
        case OperatorKind::kEmbeddingGradient: return "embedding_gradient";
        case OperatorKind::kTiedGradient: return "tied_gradient";
        case OperatorKind::kGlobalNorm: return "global_norm";
        case OperatorKind::kClip: return "clip";
        case OperatorKind::kAdamW: return "adamw";
    }
    return "unknown";
}

std::uint64_t operations(const Program& program, std::uint64_t sequences) {
    std::uint64_t total = 0;
    for (const Operator& one : program.operators) total += one.operations.of(sequences);
    return total;
}

std::uint64_t work_units(const JobSpec& spec, std::uint32_t steps) {
    const Program program = build_step_program(spec.model, spec.train, spec.profile);
    const base::Uint128 total = base::Uint128{operations(program, spec.train.batch)} * steps;
    return static_cast<std::uint64_t>((total + kOperationsPerUnit - 1) / kOperationsPerUnit);
}

std::uint64_t work_units(const JobSpec& spec) { return work_units(spec, spec.train.inner_steps); }

}  // namespace assay::program
