// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/torch_model.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "contracts/base/check.hpp"
#include "contracts/program/tensors.hpp"
#include "trainer/torch/torch_forward.hpp"

namespace assay::trainer {

namespace {

void append(std::vector<double>& flat, const torch::Tensor& tensor) {
    const auto values = tensor.detach().to(torch::kFloat64).contiguous().view({-1});
    const double* data = values.data_ptr<double>();
    flat.insert(flat.end(), data, data + values.numel());
}

}  // namespace

torch::Tensor torch_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const torch::Tensor& mask) {
    auto scores = torch::matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(3)));
    scores = scores.masked_fill(mask, -std::numeric_limits<double>::infinity());
    return torch::matmul(torch::softmax(scores, -1), v);
}

struct TorchModel::Impl {
    std::vector<program::TensorInfo> infos;
    std::vector<torch::Tensor> parameters;  // canonical order, leaves with gradients
    TorchParameters named;                  // the same tensors
    std::optional<torch::optim::AdamW> optimizer;

    torch::Tensor loss(std::span<const std::uint32_t> tokens) const {
        const auto context = signed_size(named.model.context);
        ASSAY_CHECK(!tokens.empty() && tokens.size() % (named.model.context + 1U) == 0);
        const std::vector<std::int64_t> wide(tokens.begin(), tokens.end());
        const auto all = torch::tensor(wide, torch::kInt64).view({-1, context + 1});
        const auto inputs = all.slice(1, 0, context);
        const auto targets = all.slice(1, 1, context + 1).reshape({-1});
        const auto logits = named.model.family == program::Family::kLlama ? llama_logits(named, inputs)
                                                                          : gpt2_logits(named, inputs);
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

TorchModel::TorchModel(const program::ModelConfig& model, std::span<const float> parameters,
                       TorchPrecision precision)
    : impl_(std::make_unique<Impl>()) {
    ASSAY_CHECK(parameters.size() == program::parameter_count(model));
    impl_->named.model = model;
    impl_->infos = program::parameter_tensors(model);
    const auto type = precision == TorchPrecision::kFloat64 ? torch::kFloat64 : torch::kFloat32;
    for (const program::TensorInfo& info : impl_->infos) {
        std::vector<float> values(parameters.begin() + signed_size(info.offset),
                                  parameters.begin() + signed_size(info.offset + info.size()));
        auto tensor = torch::tensor(values, torch::kFloat32).to(type);
        tensor = info.is_vector ? tensor : tensor.view({signed_size(info.rows), signed_size(info.cols)});
        impl_->parameters.push_back(tensor.clone().requires_grad_());
        impl_->named.named.emplace(info.name, impl_->parameters.back());
    }
    const auto context = signed_size(model.context);
    impl_->named.mask = torch::ones({context, context}, torch::kBool).triu(1);
    if (model.family == program::Family::kLlama) set_llama_rotation(impl_->named);
}

TorchModel::~TorchModel() = default;

TorchLoss TorchModel::loss_and_gradient(std::span<const std::uint32_t> tokens) {
    for (auto& parameter : impl_->parameters) parameter.mutable_grad() = torch::Tensor();
    const auto loss = impl_->loss(tokens);
    loss.backward();
    TorchLoss result;
    result.loss = loss.item<double>();
    for (const auto& parameter : impl_->parameters) append(result.gradient, parameter.grad());
    return result;
}

double TorchModel::train_step(const program::TrainConfig& train, std::span<const std::uint32_t> tokens) {
    if (!impl_->optimizer) impl_->create_optimizer(train);
    impl_->optimizer->zero_grad();
    const auto loss = impl_->loss(tokens);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(impl_->parameters, train.clip_norm.value());
    impl_->optimizer->step();
    return loss.item<double>();
}

std::vector<double> TorchModel::parameters() const {
    std::vector<double> flat;
    for (const auto& parameter : impl_->parameters) append(flat, parameter);
    return flat;
}

}  // namespace assay::trainer
