// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/torch_forward.hpp"

namespace assay::trainer {

namespace {

torch::Tensor layer_norm(const TorchParameters& parameters, const torch::Tensor& x, const std::string& name) {
    return torch::layer_norm(x, {x.size(-1)}, parameters.at(name + ".weight"), parameters.at(name + ".bias"),
                             static_cast<double>(parameters.model.norm_epsilon.value()));
}

torch::Tensor conv1d(const TorchParameters& parameters, const torch::Tensor& x, const std::string& name) {
    // The weight is [in,out].
    return torch::addmm(parameters.at(name + ".bias"), x, parameters.at(name + ".weight"));
}

/// x is [sequences·T, W]; so is the result.
torch::Tensor gpt2_attention(const TorchParameters& parameters, const torch::Tensor& x,
                             const std::string& layer, std::int64_t sequences) {
    const auto heads = static_cast<std::int64_t>(parameters.model.heads);
    const auto qkv =
        conv1d(parameters, x, layer + ".attn.c_attn").view({sequences, -1, 3, heads, x.size(1) / heads});
    const auto part = [&](std::int64_t index) { return qkv.select(2, index).transpose(1, 2); };
    const auto mixed = torch_attention(part(0), part(1), part(2), parameters.mask).transpose(1, 2);
    return conv1d(parameters, mixed.reshape({x.size(0), x.size(1)}), layer + ".attn.c_proj");
}

}  // namespace

torch::Tensor gpt2_logits(const TorchParameters& parameters, const torch::Tensor& inputs) {
    const std::int64_t sequences = inputs.size(0);
    const auto& wte = parameters.at("wte.weight");
    const auto embedded = torch::embedding(wte, inputs) + parameters.at("wpe.weight");
    auto x = embedded.view({-1, wte.size(1)});
    for (std::uint32_t l = 0; l < parameters.model.layers; ++l) {
        const std::string layer = "h." + std::to_string(l);
        x = x + gpt2_attention(parameters, layer_norm(parameters, x, layer + ".ln_1"), layer, sequences);
        const auto hidden =
            conv1d(parameters, layer_norm(parameters, x, layer + ".ln_2"), layer + ".mlp.c_fc");
        x = x + conv1d(parameters, torch::gelu(hidden, "tanh"), layer + ".mlp.c_proj");
    }
    return torch::matmul(layer_norm(parameters, x, "ln_f"), wte.t());
}

}  // namespace assay::trainer
