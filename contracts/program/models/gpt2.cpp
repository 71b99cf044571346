// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019): LayerNorm first, biases, learned positions, GELU, a tied head. Names as
// Hugging Face has them; weights are [in,out].
#include "contracts/program/models/decoder.hpp"

namespace assay::program::models {

DecoderModel gpt2(const ModelConfig& model) {
    const std::uint64_t width = model.width;
    const std::uint64_t hidden = model.hidden_width();
    const auto norm = [&](const char* name) { return Norm{name, kLayerNormOperators, width}; };
    const auto linear = [](const char* name, std::uint64_t in, std::uint64_t out) {
        return Linear{name, in, out, WeightLayout::kInOut, true};
    };
    const Embedding embedding{"wte", "wpe", model.vocabulary, model.context, width};
    return {.layers = "h.",
            .embedding = embedding,
            .norm1 = norm("ln_1"),
            .attention = {.name = "attn",
                          .qkv = linear("attn.c_attn", width, 3 * width),
                          .out = linear("attn.c_proj", width, width)},
            .norm2 = norm("ln_2"),
            .mlp = {.name = "mlp",
                    .up = linear("mlp.c_fc", width, hidden),
                    .activation = "mlp.gelu",
                    .operators = kGeluOperators,
                    .down = linear("mlp.c_proj", hidden, width)},
            .final_norm = norm("ln_f"),
            .head = {embedding.weight(), true, model.vocabulary, width}};
}

}  // namespace assay::program::models
