// SPDX-License-Identifier: Apache-2.0
// Gives the table of strategies DiLoCo (Douillard et al. 2023): every slot runs inner AdamW steps alone
// from a common θ; Nesterov momentum over the mean of their updates makes the next one.
#pragma once

#include "contracts/program/strategies/strategy.hpp"

namespace assay::program {

/// Updates as whole numbers of 64 bits.
extern const StrategyRow kDilocoRow;
/// Updates in FP16 (OpenDiLoCo).
extern const StrategyRow kDilocoHalfRow;

}  // namespace assay::program
