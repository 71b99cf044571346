// SPDX-License-Identifier: Apache-2.0
// GPT-2's mean loss in binary64, written from the paper's formulas and not from the program: what finite
// differences of a step are taken of.
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
        : model_(model), tensors_(assay::program::parameter_tensors(model)) {}

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

    [[nodiscard]] const double* tensor(const std::vector<double>& flat, const std::string& name) const {
        return flat.data() + tensors_[assay::program::tensor_index(tensors_, name)].offset;
    }

    [[nodiscard]] Rows norm(const std::vector<double>& flat, const std::string& name, const Rows& x) const {
        const double* gain = tensor(flat, name + ".weight");
        const double* bias = tensor(flat, name + ".bias");
        Rows y = x;
        for (auto& row : y) {
            double mean = 0;
            double variance = 0;
            for (const double v : row) mean += v / static_cast<double>(row.size());
            for (const double v : row) variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
            for (std::size_t i = 0; i < row.size(); ++i) {
                row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) * gain[i] + bias[i];
            }
        }
        return y;
    }

    [[nodiscard]] Rows linear(const std::vector<double>& flat, const std::string& name, const Rows& x,
                              std::size_t out) const {
        const double* weight = tensor(flat, name + ".weight");
        const double* bias = tensor(flat, name + ".bias");
        Rows y(x.size(), std::vector<double>(out));
        for (std::size_t t = 0; t < x.size(); ++t) {
            for (std::size_t j = 0; j < out; ++j) {
                y[t][j] = bias[j];
                for (std::size_t i = 0; i < x[t].size(); ++i) y[t][j] += x[t][i] * weight[i * out + j];
            }
        }
        return y;
    }

    [[nodiscard]] Rows attention(const Rows& qkv) const {
        const std::size_t width = model_.width;
        const std::size_t d = width / model_.heads;
        Rows o(qkv.size(), std::vector<double>(width, 0.0));
        for (std::size_t h = 0; h < model_.heads; ++h) {
            for (std::size_t i = 0; i < qkv.size(); ++i) {
                std::vector<double> weights(i + 1, 0.0);
                double sum = 0;
                for (std::size_t j = 0; j <= i; ++j) {
                    double dot = 0;
                    for (std::size_t c = 0; c < d; ++c) dot += qkv[i][h * d + c] * qkv[j][width + h * d + c];
                    weights[j] = std::exp(dot / std::sqrt(static_cast<double>(d)));
                    sum += weights[j];
                }
                for (std::size_t j = 0; j <= i; ++j) {
                    for (std::size_t c = 0; c < d; ++c) {
                        o[i][h * d + c] += weights[j] / sum * qkv[j][2 * width + h * d + c];
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

    [[nodiscard]] double sequence_loss(const std::vector<double>& flat, const std::uint32_t* tokens) const {
        const std::size_t width = model_.width;
        const double* wte = tensor(flat, "wte.weight");
        const double* wpe = tensor(flat, "wpe.weight");
        Rows x(model_.context, std::vector<double>(width));
        for (std::size_t t = 0; t < x.size(); ++t) {
            for (std::size_t i = 0; i < width; ++i) x[t][i] = wte[tokens[t] * width + i] + wpe[t * width + i];
        }
        for (std::uint32_t layer = 0; layer < model_.layers; ++layer) {
            const std::string prefix = "h." + std::to_string(layer) + ".";
            const Rows qkv = linear(flat, prefix + "attn.c_attn", norm(flat, prefix + "ln_1", x), 3 * width);
            accumulate(x, linear(flat, prefix + "attn.c_proj", attention(qkv), width));
            Rows hidden = linear(flat, prefix + "mlp.c_fc", norm(flat, prefix + "ln_2", x), 4 * width);
            for (auto& row : hidden) {
                for (double& v : row) {
                    v = 0.5 * v *
                        (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v)));
                }
            }
            accumulate(x, linear(flat, prefix + "mlp.c_proj", hidden, width));
        }
        const Rows last = norm(flat, "ln_f", x);
        double total = 0;
        for (std::size_t t = 0; t < last.size(); ++t) {
            double sum = 0;
            double wanted = 0;
            for (std::size_t v = 0; v < model_.vocabulary; ++v) {
                double logit = 0;
                for (std::size_t i = 0; i < width; ++i) logit += last[t][i] * wte[v * width + i];
                sum += std::exp(logit);
                if (v == tokens[t + 1]) wanted = logit;
            }
            total += std::log(sum) - wanted;
        }
        return total;
    }

    assay::program::ModelConfig model_;
    std::vector<assay::program::TensorInfo> tensors_;
};

}  // namespace tiny
