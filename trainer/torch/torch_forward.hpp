// SPDX-License-Identifier: Apache-2.0
// The families' forward passes in LibTorch's operators, which TorchModel differentiates.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <string>

#include "contracts/program/job_spec.hpp"

namespace assay::trainer {

/// LibTorch counts in signed numbers.
inline std::int64_t signed_size(std::uint64_t size) { return static_cast<std::int64_t>(size); }

/// A model's parameters by their canonical names, all of one type, and constants that depend only on its
/// shape.
struct TorchParameters {
    program::ModelConfig model;
    std::map<std::string, torch::Tensor> named;
    torch::Tensor mask;  ///< [T,T], true above the diagonal
    torch::Tensor cos;   ///< Llama: [T,d], of the rotary angles (each twice, as transformers lays them out)
    torch::Tensor sin;

    [[nodiscard]] const torch::Tensor& at(const std::string& name) const { return named.at(name); }
};

/// softmax(q·kᵀ / sqrt(d))·v under the mask, from single operators; all [sequences, heads, T, d].
torch::Tensor torch_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const torch::Tensor& mask);

/// Fills cos and sin, in the type of the parameters.
void set_llama_rotation(TorchParameters& parameters);

/// Logits [sequences·T, V] of token ids [sequences, T].
torch::Tensor gpt2_logits(const TorchParameters& parameters, const torch::Tensor& inputs);
torch::Tensor llama_logits(const TorchParameters& parameters, const torch::Tensor& inputs);

}  // namespace assay::trainer
