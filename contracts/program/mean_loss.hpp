// SPDX-License-Identifier: Apache-2.0
// Gives rules and trainers the mean of binary32 losses as one agreed value: defined on bits, in integers,
// so that neither the order of the losses nor a processor's rounding mode or NaN can show in it.
#pragma once

#include <cstdint>
#include <span>

namespace assay::program {

/// The one spelling of a loss that is no number.
inline constexpr std::uint32_t kNoLoss = 0x7fc00000;

/// Bits of the exact mean of the binary32 numbers with these bits, rounded once, to the nearest, ties to
/// even; a zero is +0. kNoLoss when there is none, or when one is a NaN or an infinity.
std::uint32_t mean_loss(std::span<const std::uint32_t> losses);

}  // namespace assay::program
