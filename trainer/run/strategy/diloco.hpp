// SPDX-License-Identifier: Apache-2.0
// The merge of DiLoCo on a device, for FastLaw.
#pragma once

#include "contracts/program/strategies/strategy.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer {

/// As StrategyRow::merge of the DiLoCo rows; false when a number of the result is not finite.
bool merge_diloco(Device& device, const program::RoundSettings& settings,
                  std::span<const program::Contribution> contributions, std::span<float> parameters,
                  std::span<float> outer_momentum);

}  // namespace assay::trainer
