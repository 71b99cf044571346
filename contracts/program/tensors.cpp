// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/tensors.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::program {

namespace {
void add_matrix(std::vector<TensorInfo>& out, std::string name, std::uint64_t rows, std::uint64_t cols) {
    out.push_back({.name = std::move(name), .rows = rows, .cols = cols, .offset = 0, .is_vector = false});
}
void add_vector(std::vector<TensorInfo>& out, std::string name, std::uint64_t size) {
    out.push_back({.name = std::move(name), .rows = 1, .cols = size, .offset = 0, .is_vector = true});
}

void add_gpt2_layer(std::vector<TensorInfo>& out, const std::string& prefix, std::uint64_t width) {
    add_vector(out, prefix + "ln_1.weight", width);
    add_vector(out, prefix + "ln_1.bias", width);
    add_matrix(out, prefix + "attn.c_attn.weight", width, 3 * width);
    add_vector(out, prefix + "attn.c_attn.bias", 3 * width);
    add_matrix(out, prefix + "attn.c_proj.weight", width, width);
    add_vector(out, prefix + "attn.c_proj.bias", width);
    add_vector(out, prefix + "ln_2.weight", width);
    add_vector(out, prefix + "ln_2.bias", width);
    add_matrix(out, prefix + "mlp.c_fc.weight", width, 4 * width);
    add_vector(out, prefix + "mlp.c_fc.bias", 4 * width);
    add_matrix(out, prefix + "mlp.c_proj.weight", 4 * width, width);
    add_vector(out, prefix + "mlp.c_proj.bias", width);
}

void add_gpt2(std::vector<TensorInfo>& out, const ModelConfig& model) {
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
        add_gpt2_layer(out, "h." + std::to_string(layer) + ".", model.width);
    }
    add_vector(out, "ln_f.weight", model.width);
    add_vector(out, "ln_f.bias", model.width);
    add_matrix(out, "wpe.weight", model.context, model.width);
    add_matrix(out, "wte.weight", model.vocabulary, model.width);
}

void add_llama(std::vector<TensorInfo>& out, const ModelConfig& model) {
    const std::uint64_t width = model.width;
    const std::uint64_t hidden = model.hidden;
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
        const std::string prefix = "layers." + std::to_string(layer) + ".";
        add_vector(out, prefix + "input_layernorm.weight", width);
        add_matrix(out, prefix + "mlp.down_proj.weight", width, hidden);
        add_matrix(out, prefix + "mlp.gate_up_proj.weight", 2 * hidden, width);
        add_vector(out, prefix + "post_attention_layernorm.weight", width);
        add_matrix(out, prefix + "self_attn.o_proj.weight", width, width);
        add_matrix(out, prefix + "self_attn.qkv_proj.weight", model.qkv_width(), width);
    }
    add_matrix(out, "embed_tokens.weight", model.vocabulary, width);
    add_vector(out, "norm.weight", width);
    if (model.head == Head::kUntied) add_matrix(out, "lm_head.weight", model.vocabulary, width);
}
}  // namespace

std::vector<TensorInfo> parameter_tensors(const ModelConfig& model) {
    std::vector<TensorInfo> out;
    if (model.family == Family::kGpt2) {
        add_gpt2(out, model);
    } else {
        add_llama(out, model);
    }
    std::sort(out.begin(), out.end(),
              [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
    std::uint64_t offset = 0;
    for (TensorInfo& tensor : out) {
        tensor.offset = offset;
        offset += tensor.size();
    }
    return out;
}

std::uint64_t parameter_count(const ModelConfig& model) {
    const std::uint64_t w = model.width;
    const std::uint64_t rows = model.vocabulary;
    if (model.family == Family::kGpt2) {
        // Per layer 12w² in matrices and 13w in biases and gains.
        return model.layers * (12 * w * w + 13 * w) + 2 * w + (model.context + rows) * w;
    }
    const std::uint64_t layer = w * model.qkv_width() + w * w + 3 * w * model.hidden + 2 * w;
    return model.layers * layer + w + rows * w * (model.head == Head::kUntied ? 2 : 1);
}

std::size_t tensor_index(const std::vector<TensorInfo>& tensors, std::string_view name) {
    const auto at = std::lower_bound(tensors.begin(), tensors.end(), name,
                                     [](const TensorInfo& t, std::string_view n) { return t.name < n; });
    ASSAY_CHECK(at != tensors.end() && at->name == name);
    return static_cast<std::size_t>(at - tensors.begin());
}

}  // namespace assay::program
