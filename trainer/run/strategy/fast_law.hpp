// SPDX-License-Identifier: Apache-2.0
// The functions of a strategy's row over whole arrays, on a device: the bits of the scalar law
// (contracts/program/strategies), which tests compare them with. For JobRunner.
#pragma once

#include <cstdint>
#include <span>

#include "contracts/program/strategies/strategy.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer {

/// Computes a job's rounds by its row. Borrows row and device.
class FastLaw {
public:
    FastLaw(const program::StrategyRow& row, const program::RoundSettings& settings, Device& device);

    /// As UpdateCodec::finalise.
    [[nodiscard]] bool finalise(std::span<const float> start, std::span<const float> end,
                                std::span<std::int64_t> update) const;
    /// As StrategyRow::merge; false when a number of the result is not finite.
    [[nodiscard]] bool merge(std::span<const program::Contribution> contributions,
                             std::span<float> parameters, std::span<float> outer_momentum) const;

private:
    const program::StrategyRow& row_;
    program::RoundSettings settings_;
    Device& device_;
};

}  // namespace assay::trainer
