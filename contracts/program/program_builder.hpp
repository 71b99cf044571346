// SPDX-License-Identifier: Apache-2.0
// ProgramBuilder: writes down the operators of a step, layer by layer. Internal to build_program. The two
// families share one picture (norm, qkv, attention, residual, norm, up, activation, down, residual) and
// differ in names, in the norm, in biases, in rotary positions and in the activation.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "contracts/program/program.hpp"

namespace assay::program {

class ProgramBuilder {
public:
    ProgramBuilder(const ModelConfig& model, Profile profile);

    void forward();
    void step(const TrainConfig& train);
    Program take() && { return std::move(program_); }

private:
    struct Norm {
        TensorId y = 0, mean = 0, rstd = 0;  // RMSNorm has no mean
    };
    // Activations of a layer that the backward pass reads.
    struct Layer {
        TensorId x = 0;
        Norm norm1;
        TensorId qkv = 0, p = 0, o = 0;
        TensorId middle = 0;
        Norm norm2;
        TensorId up = 0, activation = 0;
    };
    // What the families call the same places.
    struct Names {
        const char* layers;
        const char* norm1;
        const char* attention;
        const char* qkv;
        const char* out;
        const char* norm2;
        const char* up;
        const char* activation;
        const char* down;
        const char* final_norm;
        const char* embedding;
    };
    static const Names kGpt2Names;
    static const Names kLlamaNames;

    // Tensors and operators (program_builder.cpp).
    TensorId tensor(std::string name, Role role, Extent extent, std::uint64_t cols);
    TensorId rows(const std::string& name, Role role, std::uint64_t cols);
    TensorId head_matrix(const std::string& name, Role role, std::uint64_t cols);
    [[nodiscard]] std::string prefix() const;
    Operator& op(OperatorKind kind, const std::string& name, std::vector<TensorId> operands,
                 std::vector<TensorId> outputs, Operations count);
    void declare_per_parameter(const std::string& suffix, Role role);
    [[nodiscard]] TensorId parameter(const std::string& name) const;
    [[nodiscard]] TensorId gradient(const std::string& name) const;
    [[nodiscard]] std::string embedding_weight() const { return std::string(names_.embedding) + ".weight"; }
    [[nodiscard]] std::string head_weight() const;
    [[nodiscard]] bool tied() const { return program_.model.head == Head::kTied; }
    void embedding_forward();
    void embedding_backward(TensorId dx);
    void loss_forward();
    TensorId loss_backward();  // the gradient of the last layer's output
    void optimizer();

    // Layers (program_layers.cpp).
    TensorId layer_forward(TensorId x);
    TensorId layer_backward(const Layer& t, TensorId dy);
    void attention_forward(Layer& t);
    TensorId attention_backward(const Layer& t, TensorId d_o);
    TensorId activation_forward(TensorId up);
    TensorId activation_backward(const Layer& t, TensorId dy);
    Norm norm(const std::string& name, TensorId x);
    TensorId norm_backward(const std::string& name, TensorId dy, TensorId x, const Norm& norm,
                           const std::string& out_name);
    TensorId linear(const std::string& name, TensorId x, std::uint64_t in, std::uint64_t out);
    TensorId linear_backward(const std::string& name, TensorId x, TensorId dy, std::uint64_t in,
                             std::uint64_t out, const std::string& dx_name);
    TensorId residual(const std::string& name, TensorId a, TensorId b);
    TensorId residual_backward(const std::string& name, TensorId a, TensorId b);

    Program program_;
    bool llama_;
    const Names& names_;
    std::uint64_t width_, context_, vocabulary_, heads_, head_dim_, qkv_, hidden_;
    std::uint64_t up_;     // numbers that the layer before the activation writes
    std::uint64_t pairs_;  // (query, key) pairs of all query heads of a sequence
    std::int32_t layer_ = -1;
    std::size_t first_gradient_ = 0, first_moment_ = 0, second_moment_ = 0;
    TensorId inputs_ = 0, targets_ = 0, last_ = 0, logits_ = 0, exp_ = 0, exp_sum_ = 0, head_gradient_ = 0;
    Norm final_;
    std::vector<Layer> layers_;
};

}  // namespace assay::program
