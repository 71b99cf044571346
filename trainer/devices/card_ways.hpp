// SPDX-License-Identifier: Apache-2.0
// Reads from the environment what a card does without, so that a bench can measure what it brings.
#pragma once

#include <string_view>

#include "contracts/base/error.hpp"
#include "trainer/cuda/card_ways.hpp"

namespace assay::trainer {

/// Returns the ways that a list leaves: "fused-attention", "cut-products", or both with a comma between them.
/// Fails with kUsage for any other word.
base::Outcome<cuda::CardWays> parse_card_without(std::string_view list);

/// The same of ASSAY_CARD_WITHOUT; all ways when it is not set.
base::Outcome<cuda::CardWays> card_ways_from_environment();

}  // namespace assay::trainer
