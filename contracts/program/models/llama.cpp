// SPDX-License-Identifier: Apache-2.0
// Llama (Touvron et al. 2023): RMSNorm first, no biases, rotary positions, query heads that share keys and
// values, SwiGLU, a tied head or one of its own. Names as Hugging Face has them, products that read the same
// rows as one; weights are [out,in].
#include "contracts/program/models/decoder.hpp"

namespace assay::program::models {

DecoderModel llama(const ModelConfig& model) {
    const std::uint64_t width = model.width;
    const std::uint64_t hidden = model.hidden_width();
    const auto norm = [&](const char* name) { return Norm{name, kRmsNormOperators, width}; };
    const auto linear = [](const char* name, std::uint64_t in, std::uint64_t out) {
        return Linear{name, in, out, WeightLayout::kOutIn, false};
    };
    const bool is_tied = model.head == Head::kTied;
    const Embedding embedding{"embed_tokens", "", model.vocabulary, model.context, width};
    return {.layers = "layers.",
            .embedding = embedding,
            .norm1 = norm("input_layernorm"),
            .attention = {.name = "self_attn",
                          .qkv = linear("self_attn.qkv_proj", width, model.qkv_width()),
                          .out = linear("self_attn.o_proj", width, width),
                          .is_rotary = true},
            .norm2 = norm("post_attention_layernorm"),
            .mlp = {.name = "mlp",
                    .up = linear("mlp.gate_up_proj", width, 2 * hidden),
                    .activation = "mlp.swiglu",
                    .operators = kSwiGluOperators,
                    .down = linear("mlp.down_proj", hidden, width)},
            .final_norm = norm("norm"),
            .head = {is_tied ? embedding.weight() : "lm_head.weight", is_tied, model.vocabulary, width}};
}

}  // namespace assay::program::models
