// SPDX-License-Identifier: Apache-2.0
// The codecs of updates from which strategies choose.
#pragma once

#include "contracts/program/strategies/strategy.hpp"

namespace assay::program {

/// Differences rounded to whole numbers at 2^sum_exponent, eight bytes each, little-endian.
extern const UpdateCodec kInt64Codec;
/// Differences rounded to binary16 (OpenDiLoCo, Jaghouar et al. 2024), two bytes each, little-endian; each is
/// exactly a whole number at 2^sum_exponent.
extern const UpdateCodec kHalfCodec;

/// Bytes of each number in the codec's packed form, where number i begins at i times that and decodes by
/// itself, so that a part of an update can be decoded alone. 0 for a codec whose packed form is read as a
/// whole.
std::uint64_t packed_width(const UpdateCodec& codec);

}  // namespace assay::program
