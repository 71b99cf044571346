// SPDX-License-Identifier: Apache-2.0
// TorchModel is both families in LibTorch's own operators and autograd. Tests compare our gradients with it
// (binary64), and benches our speed (binary32). Its numbers never enter a claim.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "contracts/program/job_spec.hpp"

namespace assay::trainer {

enum class TorchPrecision : std::uint8_t { kFloat32, kFloat64 };

struct TorchLoss {
    double loss = 0;
    std::vector<double> gradient;  ///< flat, canonical order (contracts/program/tensors.hpp)
};

/// The same function as our step program (contracts/program): the family's forward pass, then mean
/// cross-entropy.
class TorchModel {
public:
    /// `parameters` is flat in canonical order. REQUIRES parameters.size() == parameter_count(model).
    TorchModel(const program::ModelConfig& model, std::span<const float> parameters,
               TorchPrecision precision);
    ~TorchModel();

    /// Loss of `sequences` runs of context+1 tokens and its gradient, before any clipping.
    [[nodiscard]] TorchLoss loss_and_gradient(std::span<const std::uint32_t> tokens);

    /// One whole step (forward, backward, clipping by global norm, AdamW that decays matrices only).
    /// Returns the loss. The first call creates the moments.
    double train_step(const program::TrainConfig& train, std::span<const std::uint32_t> tokens);

    /// Parameters as they are now, flat in canonical order.
    [[nodiscard]] std::vector<double> parameters() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::trainer
