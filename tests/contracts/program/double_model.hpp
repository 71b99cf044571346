// SPDX-License-Identifier: Apache-2.0
// The mean loss of both families in binary64, written from the papers' formulas and not from the program:
// what finite differences of a step are taken of.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "contracts/program/tensors.hpp"

namespace tiny {

class DoubleModel {
public:
    explicit DoubleModel(const assay::program::ModelConfig& model)
        : model_(model),
          llama_(model.family == assay::program::Family::kLlama),
          tensors_(assay::program::parameter_tensors(model)) {}

    [[nodiscard]] double loss(const std::vector<double>& flat,
                              const std::vector<std::uint32_t>& tokens) const {
        const std::size_t length = model_.context + 1U;
        double total = 0;
        std::size_t count = 0;
        for (std::size_t start = 0; start < tokens.size(); start += length) {
            total += sequence_loss(flat, tokens.data() + start);
            count += model_.context;
        }
        return total / static_cast<double>(count);
    }

private:
    using Rows = std::vector<std::vector<double>>;
    using Flat = std::vector<double>;

    [[nodiscard]] const double* tensor(const Flat& flat, const std::string& name) const {
        return flat.data() + tensors_[assay::program::tensor_index(tensors_, name)].offset;
    }

    /// LayerNorm, or RMSNorm: no mean and no bias.
    [[nodiscard]] Rows norm(const Flat& flat, const std::string& name, const Rows& x) const {
        const double* gain = tensor(flat, name + ".weight");
        const double* bias = llama_ ? nullptr : tensor(flat, name + ".bias");
        Rows y = x;
        for (auto& row : y) {
            double mean = 0;
            double variance = 0;
            for (const double v : row) mean += llama_ ? 0 : v / static_cast<double>(row.size());
            for (const double v : row) variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
            const double root = std::sqrt(variance + static_cast<double>(model_.norm_epsilon.value()));
            for (std::size_t i = 0; i < row.size(); ++i) {
                row[i] = (row[i] - mean) / root * gain[i] + (llama_ ? 0 : bias[i]);
            }
        }
        return y;
    }

    /// GPT-2's weight is [in,out] and has a bias; Llama's is [out,in].
    [[nodiscard]] Rows linear(const Flat& flat, const std::string& name, const Rows& x,
                              std::size_t out) const {
        const double* weight = tensor(flat, name + ".weight");
        const double* bias = llama_ ? nullptr : tensor(flat, name + ".bias");
        Rows y(x.size(), std::vector<double>(out));
        for (std::size_t t = 0; t < x.size(); ++t) {
            const std::size_t in = x[t].size();
            for (std::size_t j = 0; j < out; ++j) {
                y[t][j] = llama_ ? 0 : bias[j];
                for (std::size_t i = 0; i < in; ++i) {
                    y[t][j] += x[t][i] * weight[llama_ ? j * in + i : i * out + j];
                }
            }
        }
        return y;
    }

    /// Queries and keys: in a head, numbers i and i + d/2 are a complex number turned by t·theta^(−2i/d).
    void rotate(Rows& qkv) const {
        const std::size_t d = model_.head_dim();
        for (std::size_t t = 0; t < qkv.size(); ++t) {
            for (std::size_t h = 0; h < model_.heads + model_.kv_heads; ++h) {
                for (std::size_t i = 0; i < d / 2; ++i) {
                    const double angle = static_cast<double>(t) *
                                         std::pow(static_cast<double>(model_.rope_theta.value()),
                                                  -2.0 * static_cast<double>(i) / static_cast<double>(d));
                    double& first = qkv[t][h * d + i];
                    double& second = qkv[t][h * d + i + d / 2];
                    const double turned = first * std::cos(angle) - second * std::sin(angle);
                    second = second * std::cos(angle) + first * std::sin(angle);
                    first = turned;
                }
            }
        }
    }

    [[nodiscard]] Rows attention(const Rows& qkv) const {
        const std::size_t d = model_.head_dim();
        const std::size_t groups = model_.key_value_heads();
        Rows o(qkv.size(), std::vector<double>(model_.width, 0.0));
        for (std::size_t h = 0; h < model_.heads; ++h) {
            const std::size_t key = (model_.heads + h * groups / model_.heads) * d;
            const std::size_t value = key + groups * d;
            for (std::size_t i = 0; i < qkv.size(); ++i) {
                std::vector<double> weights(i + 1, 0.0);
                double sum = 0;
                for (std::size_t j = 0; j <= i; ++j) {
                    double dot = 0;
                    for (std::size_t c = 0; c < d; ++c) dot += qkv[i][h * d + c] * qkv[j][key + c];
                    weights[j] = std::exp(dot / std::sqrt(static_cast<double>(d)));
                    sum += weights[j];
                }
                for (std::size_t j = 0; j <= i; ++j) {
                    for (std::size_t c = 0; c < d; ++c) {
                        o[i][h * d + c] += weights[j] / sum * qkv[j][value + c];
                    }
                }
            }
        }
        return o;
    }

    static void accumulate(Rows& x, const Rows& y) {
        for (std::size_t t = 0; t < x.size(); ++t) {
            for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += y[t][i];
        }
    }

    static void gelu(Rows& x) {
        const double scale = std::sqrt(2 / std::acos(-1.0));
        for (auto& row : x) {
            for (double& v : row) v = 0.5 * v * (1 + std::tanh(scale * (v + 0.044715 * v * v * v)));
        }
    }

    static void swiglu(Rows& x) {
        for (auto& row : x) {
            const std::size_t hidden = row.size() / 2;
            for (std::size_t i = 0; i < hidden; ++i) row[i] *= row[i + hidden] / (1 + std::exp(-row[i]));
            row.resize(hidden);
        }
    }

    void gpt2_layer(const Flat& flat, const std::string& prefix, Rows& x) const {
        const std::size_t width = model_.width;
        const Rows qkv = linear(flat, prefix + "attn.c_attn", norm(flat, prefix + "ln_1", x), 3 * width);
        accumulate(x, linear(flat, prefix + "attn.c_proj", attention(qkv), width));
        Rows hidden = linear(flat, prefix + "mlp.c_fc", norm(flat, prefix + "ln_2", x), 4 * width);
        gelu(hidden);
        accumulate(x, linear(flat, prefix + "mlp.c_proj", hidden, width));
    }

    void llama_layer(const Flat& flat, const std::string& prefix, Rows& x) const {
        Rows qkv = linear(flat, prefix + "self_attn.qkv_proj", norm(flat, prefix + "input_layernorm", x),
                          model_.qkv_width());
        rotate(qkv);
        accumulate(x, linear(flat, prefix + "self_attn.o_proj", attention(qkv), model_.width));
        Rows hidden = linear(flat, prefix + "mlp.gate_up_proj",
                             norm(flat, prefix + "post_attention_layernorm", x), 2UL * model_.hidden);
        swiglu(hidden);
        accumulate(x, linear(flat, prefix + "mlp.down_proj", hidden, model_.width));
    }

    [[nodiscard]] double sequence_loss(const Flat& flat, const std::uint32_t* tokens) const {
        const std::size_t width = model_.width;
        const double* embedding = tensor(flat, llama_ ? "embed_tokens.weight" : "wte.weight");
        const double* positions = llama_ ? nullptr : tensor(flat, "wpe.weight");
        const double* head =
            model_.head == assay::program::Head::kUntied ? tensor(flat, "lm_head.weight") : embedding;
        Rows x(model_.context, std::vector<double>(width));
        for (std::size_t t = 0; t < x.size(); ++t) {
            for (std::size_t i = 0; i < width; ++i) {
                x[t][i] = embedding[tokens[t] * width + i] + (llama_ ? 0 : positions[t * width + i]);
            }
        }
        for (std::uint32_t layer = 0; layer < model_.layers; ++layer) {
            const std::string number = std::to_string(layer);
            if (llama_) {
                llama_layer(flat, "layers." + number + ".", x);
            } else {
                gpt2_layer(flat, "h." + number + ".", x);
            }
        }
        const Rows last = norm(flat, llama_ ? "norm" : "ln_f", x);
        double total = 0;
        for (std::size_t t = 0; t < last.size(); ++t) {
            double sum = 0;
            double wanted = 0;
            for (std::size_t v = 0; v < model_.vocabulary; ++v) {
                double logit = 0;
                for (std::size_t i = 0; i < width; ++i) logit += last[t][i] * head[v * width + i];
                sum += std::exp(logit);
                if (v == tokens[t + 1]) wanted = logit;
            }
            total += std::log(sum) - wanted;
        }
        return total;
    }

    assay::program::ModelConfig model_;
    bool llama_;
    std::vector<assay::program::TensorInfo> tensors_;
};

}  // namespace tiny
