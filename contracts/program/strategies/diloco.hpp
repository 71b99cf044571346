// SPDX-License-Identifier: Apache-2.0
// DiLoCo (Douillard et al. 2023) as rows of the table of strategies. Every slot runs inner AdamW steps by
// itself from a common θ; Nesterov momentum over the mean of the updates makes the next θ.
#pragma once

#include "contracts/program/strategies/strategy.hpp"

namespace assay::program {

/// Updates as whole numbers of 64 bits.
extern const StrategyRow kDilocoRow;
/// Updates in FP16 (OpenDiLoCo).
extern const StrategyRow kDilocoHalfRow;

}  // namespace assay::program
