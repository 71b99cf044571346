// SPDX-License-Identifier: Apache-2.0
// The mean of binary32 losses, for rules and trainers. It is defined on bits, in integers, so that it depends
// neither on the order of the losses nor on a processor's rounding mode or NaNs.
#pragma once

#include <cstdint>
#include <span>

namespace assay::program {

/// The only encoding of a loss that is not a number.
inline constexpr std::uint32_t kNoLoss = 0x7fc00000;

/// Bits of the exact mean of the binary32 numbers with these bits, rounded once, to the nearest, ties to
/// even; a zero is +0. kNoLoss when there is none, or when one is a NaN or an infinity.
std::uint32_t mean_loss(std::span<const std::uint32_t> losses);

}  // namespace assay::program
