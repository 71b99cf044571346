// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/torch_forward.hpp"

namespace assay::trainer {

namespace {

torch::Tensor rms_norm(const TorchParameters& parameters, const torch::Tensor& x, const std::string& name) {
    const auto epsilon = static_cast<double>(parameters.model.norm_epsilon.value());
    const auto rstd = torch::rsqrt(x.square().mean(-1, true) + epsilon);
    return x * rstd * parameters.at(name + ".weight");
}

torch::Tensor llama_linear(const TorchParameters& parameters, const torch::Tensor& x,
                           const std::string& name) {
    return torch::matmul(x, parameters.at(name + ".weight").t());  // the weight is [out,in]
}

/// x is [sequences, heads, T, d].
torch::Tensor turned(const TorchParameters& parameters, const torch::Tensor& x) {
    const auto halves = x.chunk(2, -1);
    return x * parameters.cos + torch::cat({-halves[1], halves[0]}, -1) * parameters.sin;
}

/// x is [sequences·T, W]; so is the result.
torch::Tensor llama_attention(const TorchParameters& parameters, const torch::Tensor& x,
                              const std::string& layer, std::int64_t sequences) {
    const program::ModelConfig& model = parameters.model;
    const auto heads = static_cast<std::int64_t>(model.heads);
    const auto shared = static_cast<std::int64_t>(model.kv_heads);
    const auto qkv = llama_linear(parameters, x, layer + ".self_attn.qkv_proj")
                         .view({sequences, -1, heads + 2 * shared, x.size(1) / heads})
                         .transpose(1, 2);
    const auto q = turned(parameters, qkv.narrow(1, 0, heads));
    const auto k = turned(parameters, qkv.narrow(1, heads, shared)).repeat_interleave(heads / shared, 1);
    const auto v = qkv.narrow(1, heads + shared, shared).repeat_interleave(heads / shared, 1);
    const auto mixed =
        torch_attention(q, k, v, parameters.mask).transpose(1, 2).reshape({x.size(0), x.size(1)});
    return llama_linear(parameters, mixed, layer + ".self_attn.o_proj");
}

}  // namespace

void set_llama_rotation(TorchParameters& parameters) {
    const program::ModelConfig& model = parameters.model;
    const auto dim = static_cast<std::int64_t>(model.head_dim());
    const auto tokens = static_cast<std::int64_t>(model.context);
    const auto power = torch::arange(0, dim, 2, torch::kFloat64) / static_cast<double>(dim);
    const auto frequency = torch::pow(static_cast<double>(model.rope_theta.value()), -power);
    const auto angle = torch::outer(torch::arange(tokens, torch::kFloat64), frequency);
    const auto both = torch::cat({angle, angle}, 1);
    const auto type = parameters.at("norm.weight").scalar_type();
    parameters.cos = both.cos().to(type);
    parameters.sin = both.sin().to(type);
}

torch::Tensor llama_logits(const TorchParameters& parameters, const torch::Tensor& inputs) {
    const std::int64_t sequences = inputs.size(0);
    const auto& embedding = parameters.at("embed_tokens.weight");
    auto x = torch::embedding(embedding, inputs).view({-1, embedding.size(1)});
    for (std::uint32_t l = 0; l < parameters.model.layers; ++l) {
        const std::string layer = "layers." + std::to_string(l);
        const auto first = rms_norm(parameters, x, layer + ".input_layernorm");
        x = x + llama_attention(parameters, first, layer, sequences);
        const auto second = rms_norm(parameters, x, layer + ".post_attention_layernorm");
        const auto halves = llama_linear(parameters, second, layer + ".mlp.gate_up_proj").chunk(2, 1);
        x = x + llama_linear(parameters, torch::silu(halves[0]) * halves[1], layer + ".mlp.down_proj");
    }
    const bool tied = parameters.model.head == program::Head::kTied;
    return torch::matmul(rms_norm(parameters, x, "norm"),
                         (tied ? embedding : parameters.at("lm_head.weight")).t());
}

}  // namespace assay::trainer
