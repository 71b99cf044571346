// SPDX-License-Identifier: Apache-2.0
// Gives strategies the codecs of updates that they choose from.
#pragma once

#include "contracts/program/strategies/strategy.hpp"

namespace assay::program {

/// Differences rounded to whole numbers at 2^sum_exponent, eight bytes each, little-endian.
extern const UpdateCodec kInt64Codec;
/// Differences rounded to binary16 (OpenDiLoCo, Jaghouar et al. 2024), two bytes each, little-endian; every
/// one is a whole number at 2^sum_exponent, exactly.
extern const UpdateCodec kHalfCodec;

}  // namespace assay::program
