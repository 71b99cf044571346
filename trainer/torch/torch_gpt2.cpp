// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/torch_gpt2.hpp"

#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "contracts/base/check.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::trainer {

namespace {

constexpr double kLayerNormEpsilon = 1e-5;

std::int64_t signed_size(std::uint64_t size) { return static_cast<std::int64_t>(size); }

void append(std::vector<double>& flat, const torch::Tensor& tensor) {
    const auto values = tensor.detach().to(torch::kFloat64).contiguous().view({-1});
    const double* data = values.data_ptr<double>();
    flat.insert(flat.end(), data, data + values.numel());
}

}  // namespace

struct TorchGpt2::Impl {
    program::ModelConfig model;
    std::vector<program::TensorInfo> infos;
    std::vector<torch::Tensor> parameters;  // canonical order, leaves with gradients
    std::map<std::string, torch::Tensor> named;
    torch::Tensor mask;  // [T,T], true above the diagonal
    std::optional<torch::optim::AdamW> optimizer;

    const torch::Tensor& at(const std::string& name) const { return named.at(name); }

    torch::Tensor layer_norm(const torch::Tensor& x, const std::string& name) const {
        return torch::layer_norm(x, {x.size(-1)}, at(name + ".weight"), at(name + ".bias"),
                                 kLayerNormEpsilon);
    }
    torch::Tensor linear(const torch::Tensor& x, const std::string& name) const {
        return torch::addmm(at(name + ".bias"), x, at(name + ".weight"));  // Conv1D: weight is [in,out]
    }

    /// x is [sequences·T, W]; so is the result.
    torch::Tensor attention(const torch::Tensor& x, const std::string& layer, std::int64_t sequences) const {
        const auto heads = signed_size(model.heads);
        const auto context = signed_size(model.context);
        const auto size = signed_size(model.width) / heads;
        const auto qkv = linear(x, layer + ".attn.c_attn").view({sequences, context, 3, heads, size});
        const auto head = [&](std::int64_t part) { return qkv.select(2, part).transpose(1, 2); };
        auto scores =
            torch::matmul(head(0), head(1).transpose(-2, -1)) / std::sqrt(static_cast<double>(size));
        scores = scores.masked_fill(mask, -std::numeric_limits<double>::infinity());
        const auto mixed = torch::matmul(torch::softmax(scores, -1), head(2)).transpose(1, 2);
        return linear(mixed.reshape({sequences * context, heads * size}), layer + ".attn.c_proj");
    }

    torch::Tensor loss(std::span<const std::uint32_t> tokens) const {
        const auto context = signed_size(model.context);
        ASSAY_CHECK(!tokens.empty() && tokens.size() % (model.context + 1U) == 0);
        const auto sequences = signed_size(tokens.size()) / (context + 1);
        const std::vector<std::int64_t> wide(tokens.begin(), tokens.end());
        const auto all = torch::tensor(wide, torch::kInt64).view({sequences, context + 1});
        const auto inputs = all.slice(1, 0, context).reshape({-1});
        const auto targets = all.slice(1, 1, context + 1).reshape({-1});
        const auto embedded = torch::embedding(at("wte.weight"), inputs).view({sequences, context, -1});
        auto x = (embedded + at("wpe.weight")).view({sequences * context, -1});
        for (std::uint32_t l = 0; l < model.layers; ++l) {
            const std::string layer = "h." + std::to_string(l);
            x = x + attention(layer_norm(x, layer + ".ln_1"), layer, sequences);
            const auto hidden = linear(layer_norm(x, layer + ".ln_2"), layer + ".mlp.c_fc");
            x = x + linear(torch::gelu(hidden, "tanh"), layer + ".mlp.c_proj");
        }
        const auto logits = torch::matmul(layer_norm(x, "ln_f"), at("wte.weight").t());
        return torch::nn::functional::cross_entropy(logits, targets);
    }

    void create_optimizer(const program::TrainConfig& train) {
        const auto options = [&](double decay) {
            return std::make_unique<torch::optim::AdamWOptions>(
                torch::optim::AdamWOptions(train.learning_rate.value())
                    .betas({train.beta1.value(), train.beta2.value()})
                    .eps(train.epsilon.value())
                    .weight_decay(decay));
        };
        std::vector<torch::Tensor> matrices;
        std::vector<torch::Tensor> vectors;
        for (std::size_t i = 0; i < infos.size(); ++i) {
            (infos[i].decays() ? matrices : vectors).push_back(parameters[i]);
        }
        std::vector<torch::optim::OptimizerParamGroup> groups;
        groups.emplace_back(matrices, options(train.weight_decay.value()));
        groups.emplace_back(vectors, options(0));
        optimizer.emplace(groups, torch::optim::AdamWOptions(train.learning_rate.value()));
    }
};

TorchGpt2::TorchGpt2(const program::ModelConfig& model, std::span<const float> parameters,
                     TorchPrecision precision)
    : impl_(std::make_unique<Impl>()) {
    ASSAY_CHECK(parameters.size() == program::parameter_count(model));
    impl_->model = model;
    impl_->infos = program::parameter_tensors(model);
    const auto type = precision == TorchPrecision::kFloat64 ? torch::kFloat64 : torch::kFloat32;
    for (const program::TensorInfo& info : impl_->infos) {
        std::vector<float> values(parameters.begin() + signed_size(info.offset),
                                  parameters.begin() + signed_size(info.offset + info.size()));
        auto tensor = torch::tensor(values, torch::kFloat32).to(type);
        tensor = info.is_vector ? tensor : tensor.view({signed_size(info.rows), signed_size(info.cols)});
        impl_->parameters.push_back(tensor.clone().requires_grad_());
        impl_->named.emplace(info.name, impl_->parameters.back());
    }
    const auto context = signed_size(model.context);
    impl_->mask = torch::ones({context, context}, torch::kBool).triu(1);
}

TorchGpt2::~TorchGpt2() = default;

TorchLoss TorchGpt2::loss_and_gradient(std::span<const std::uint32_t> tokens) {
    for (auto& parameter : impl_->parameters) parameter.mutable_grad() = torch::Tensor();
    const auto loss = impl_->loss(tokens);
    loss.backward();
    TorchLoss result;
    result.loss = loss.item<double>();
    for (const auto& parameter : impl_->parameters) append(result.gradient, parameter.grad());
    return result;
}

double TorchGpt2::train_step(const program::TrainConfig& train, std::span<const std::uint32_t> tokens) {
    if (!impl_->optimizer) impl_->create_optimizer(train);
    impl_->optimizer->zero_grad();
    const auto loss = impl_->loss(tokens);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(impl_->parameters, train.clip_norm.value());
    impl_->optimizer->step();
    return loss.item<double>();
}

std::vector<double> TorchGpt2::parameters() const {
    std::vector<double> flat;
    for (const auto& parameter : impl_->parameters) append(flat, parameter);
    return flat;
}

}  // namespace assay::trainer
