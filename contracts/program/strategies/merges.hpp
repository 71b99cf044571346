// SPDX-License-Identifier: Apache-2.0
// The merges that strategies choose from. A device knows them by their functions, so that it can run kernels
// of its own with the same bits.
#pragma once

#include "contracts/arithmetic/update.hpp"
#include "contracts/program/strategies/strategy.hpp"

namespace assay::program {

/// The job's settings of arithmetic::outer_nesterov.
arithmetic::OuterCoefficients outer_coefficients(const RoundSettings& settings);

/// StrategyRow::merge by the mean of the contributions (arithmetic::merge_updates), then
/// arithmetic::outer_nesterov. Each number is computed by itself: any cut of the arrays gives the same bits.
void merge_outer_nesterov(const RoundSettings& settings, std::span<const Contribution> contributions,
                          std::span<float> parameters, std::span<float> outer_momentum);

}  // namespace assay::program
