// SPDX-License-Identifier: Apache-2.0
// The outer optimizers from which strategies choose. A device recognises one by its address, so that it can
// run its own kernels with the same bits.
#pragma once

#include "contracts/arithmetic/update.hpp"
#include "contracts/program/strategies/strategy.hpp"

namespace assay::program {

/// The job's settings of arithmetic::outer_nesterov.
arithmetic::OuterCoefficients outer_coefficients(const RoundSettings& settings);

/// The mean of the contributions (arithmetic::merge_updates), then arithmetic::outer_nesterov.
extern const OuterOptimizer kOuterNesterov;

}  // namespace assay::program
