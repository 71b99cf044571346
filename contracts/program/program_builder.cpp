// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/program_builder.hpp"

namespace assay::program {

const ProgramBuilder::Names ProgramBuilder::kGpt2Names = {
    .layers = "h.",
    .norm1 = "ln_1",
    .attention = "attn",
    .qkv = "attn.c_attn",
    .out = "attn.c_proj",
    .norm2 = "ln_2",
    .up = "mlp.c_fc",
    .activation = "mlp.gelu",
    .down = "mlp.c_proj",
    .final_norm = "ln_f",
    .embedding = "wte",
};
const ProgramBuilder::Names ProgramBuilder::kLlamaNames = {
    .layers = "layers.",
    .norm1 = "input_layernorm",
    .attention = "self_attn",
    .qkv = "self_attn.qkv_proj",
    .out = "self_attn.o_proj",
    .norm2 = "post_attention_layernorm",
    .up = "mlp.gate_up_proj",
    .activation = "mlp.swiglu",
    .down = "mlp.down_proj",
    .final_norm = "norm",
    .embedding = "embed_tokens",
};

ProgramBuilder::ProgramBuilder(const ModelConfig& model, Profile profile)
    : llama_(model.family == Family::kLlama),
      names_(llama_ ? kLlamaNames : kGpt2Names),
      width_(model.width),
      context_(model.context),
      vocabulary_(model.vocabulary),
      heads_(model.heads),
      head_dim_(model.head_dim()),
      qkv_(model.qkv_width()),
      hidden_(model.hidden_width()),
      up_(llama_ ? 2 * hidden_ : hidden_),
      pairs_(heads_ * (context_ * (context_ + 1) / 2)) {
    program_.model = model;
    program_.profile = profile;
    program_.parameters = parameter_tensors(model);
    declare_per_parameter("", Role::kParameter);
}

void ProgramBuilder::forward() {
    inputs_ = tensor("inputs", Role::kTokens, {0, 1}, context_);
    targets_ = tensor("targets", Role::kTokens, {0, 1}, context_);
    TensorId x = rows("embedding", Role::kActivation, width_);
    std::vector<TensorId> operands = {inputs_, parameter(embedding_weight())};
    if (!llama_) operands.push_back(parameter("wpe.weight"));
    op(OperatorKind::kEmbedding, "embedding.forward", std::move(operands), {x},
       {0, llama_ ? 0 : context_ * width_});
    for (layer_ = 0; layer_ < static_cast<std::int32_t>(program_.model.layers); ++layer_) {
        x = layer_forward(x);
    }
    layer_ = -1;
    last_ = x;
    final_ = norm(names_.final_norm, x);
    loss_forward();
}

void ProgramBuilder::step(const TrainConfig& train) {
    program_.clip_norm = train.clip_norm.value();
    declare_per_parameter(".first_moment", Role::kFirstMoment);
    declare_per_parameter(".second_moment", Role::kSecondMoment);
    declare_per_parameter(".gradient", Role::kParameterGradient);
    forward();
    TensorId dx = loss_backward();
    for (layer_ = static_cast<std::int32_t>(program_.model.layers) - 1; layer_ >= 0; --layer_) {
        dx = layer_backward(layers_[static_cast<std::size_t>(layer_)], dx);
    }
    layer_ = -1;
    embedding_backward(dx);
    optimizer();
}

TensorId ProgramBuilder::tensor(std::string name, Role role, Extent extent, std::uint64_t cols) {
    program_.tensors.push_back({std::move(name), role, extent, cols});
    return static_cast<TensorId>(program_.tensors.size() - 1);
}

TensorId ProgramBuilder::rows(const std::string& name, Role role, std::uint64_t cols) {
    return tensor(prefix() + name, role, {0, context_}, cols);
}

TensorId ProgramBuilder::head_matrix(const std::string& name, Role role, std::uint64_t cols) {
    return tensor(prefix() + name, role, {0, heads_ * context_}, cols);
}

std::string ProgramBuilder::prefix() const {
    return layer_ < 0 ? std::string() : names_.layers + std::to_string(layer_) + ".";
}

Operator& ProgramBuilder::op(OperatorKind kind, const std::string& name, std::vector<TensorId> operands,
                             std::vector<TensorId> outputs, Operations count) {
    program_.operators.push_back(
        {kind, prefix() + name, layer_, std::move(operands), std::move(outputs), count});
    return program_.operators.back();
}

void ProgramBuilder::declare_per_parameter(const std::string& suffix, Role role) {
    if (role == Role::kParameterGradient) first_gradient_ = program_.tensors.size();
    if (role == Role::kFirstMoment) first_moment_ = program_.tensors.size();
    if (role == Role::kSecondMoment) second_moment_ = program_.tensors.size();
    for (const TensorInfo& info : program_.parameters) {
        tensor(info.name + suffix, role, {info.rows, 0}, info.cols);
    }
}

TensorId ProgramBuilder::parameter(const std::string& name) const {
    return static_cast<TensorId>(tensor_index(program_.parameters, prefix() + name));
}

TensorId ProgramBuilder::gradient(const std::string& name) const {
    return static_cast<TensorId>(first_gradient_) + parameter(name);
}

std::string ProgramBuilder::head_weight() const { return tied() ? embedding_weight() : "lm_head.weight"; }

void ProgramBuilder::loss_forward() {
    logits_ = rows("lm_head", Role::kActivation, vocabulary_);
    op(OperatorKind::kHead, "lm_head.forward", {final_.y, parameter(head_weight())}, {logits_},
       {0, 2 * context_ * width_ * vocabulary_});
    const std::uint64_t cells = context_ * vocabulary_;
    const TensorId max = rows("loss.max", Role::kActivation, 1);
    op(OperatorKind::kLossMax, "loss.max.forward", {logits_}, {max}, {0, cells});
    exp_ = rows("loss.exp", Role::kActivation, vocabulary_);
    op(OperatorKind::kLossExp, "loss.exp.forward", {logits_, max}, {exp_}, {0, 21 * cells});
    exp_sum_ = rows("loss.sum", Role::kActivation, 1);
    op(OperatorKind::kLossSum, "loss.sum.forward", {exp_}, {exp_sum_}, {0, cells});
    const TensorId losses = rows("loss.tokens", Role::kActivation, 1);
    op(OperatorKind::kLossTokens, "loss.tokens.forward", {logits_, max, exp_sum_, targets_}, {losses},
       {0, 22 * context_});
    program_.loss = tensor("loss", Role::kScalar, {1, 0}, 1);
    op(OperatorKind::kLossTotal, "loss.total.forward", {losses}, {program_.loss}, {1, context_ + 1});
}

TensorId ProgramBuilder::loss_backward() {
    // 16-bit fixed point would round most of a gradient row over a large vocabulary to zero.
    constexpr std::uint8_t kGradientDigits = 3;
    const TensorId dlogits = rows("lm_head.gradient", Role::kGradient, vocabulary_);
    op(OperatorKind::kLossGradient, "loss.backward", {exp_, exp_sum_, targets_}, {dlogits},
       {0, 2 * context_ * vocabulary_ + context_});
    const TensorId dh = rows(std::string(names_.final_norm) + ".gradient", Role::kGradient, width_);
    const Operations product{0, 2 * context_ * width_ * vocabulary_};
    op(OperatorKind::kHeadInputGradient, "lm_head.input.backward", {dlogits, parameter(head_weight())}, {dh},
       product)
        .rule = {.a_digits = kGradientDigits};
    head_gradient_ =
        tied() ? tensor(head_weight() + ".gradient.head", Role::kParameterGradient, {vocabulary_, 0}, width_)
               : gradient(head_weight());
    op(OperatorKind::kHeadWeightGradient, "lm_head.weight.backward", {dlogits, final_.y}, {head_gradient_},
       product)
        .rule = {.a_digits = kGradientDigits, .block = context_};
    return norm_backward(names_.final_norm, dh, last_, final_, "last.gradient");
}

void ProgramBuilder::embedding_backward(TensorId dx) {
    const std::string weight = embedding_weight();
    const TensorId rows_gradient =
        tied() ? tensor(weight + ".gradient.embedding", Role::kParameterGradient, {vocabulary_, 0}, width_)
               : gradient(weight);
    std::vector<TensorId> outputs = {rows_gradient};
    if (!llama_) outputs.push_back(gradient("wpe.weight"));
    op(OperatorKind::kEmbeddingGradient, "embedding.backward", {inputs_, dx}, std::move(outputs),
       {0, (llama_ ? 1 : 2) * context_ * width_});
    if (!tied()) return;
    op(OperatorKind::kTiedGradient, std::string(names_.embedding) + ".tied.backward",
       {head_gradient_, rows_gradient}, {gradient(weight)}, {vocabulary_ * width_, 0});
}

void ProgramBuilder::optimizer() {
    std::vector<TensorId> gradients;
    for (TensorId i = 0; i < program_.parameters.size(); ++i) {
        gradients.push_back(static_cast<TensorId>(first_gradient_) + i);
    }
    const std::uint64_t count = parameter_count(program_.model);
    program_.norm = tensor("norm", Role::kScalar, {1, 0}, 1);
    op(OperatorKind::kGlobalNorm, "norm", gradients, {program_.norm}, {2 * count, 0});
    const TensorId clip = tensor("clip", Role::kScalar, {1, 0}, 1);
    op(OperatorKind::kClip, "clip", {program_.norm}, {clip}, {3, 0});
    for (TensorId i = 0; i < program_.parameters.size(); ++i) {
        const TensorId m = static_cast<TensorId>(first_moment_) + i;
        const TensorId v = static_cast<TensorId>(second_moment_) + i;
        op(OperatorKind::kAdamW, program_.parameters[i].name + ".adamw", {gradients[i], clip, i, m, v},
           {i, m, v}, {17 * program_.parameters[i].size(), 0});
    }
}

}  // namespace assay::program
