// SPDX-License-Identifier: Apache-2.0
// How much of a card's memory plans may use.
#pragma once

#include <cstdint>
#include <string>

#include "contracts/base/error.hpp"

namespace assay::trainer::cuda {

/// Returns the bytes that plans may use of a card with `free` of `total` bytes free now: `given`, which its
/// owner chose, or, when that is 0, the free bytes less a sixteenth of the card, which drivers and libraries
/// take later. kPreflight when so many bytes are not free.
base::Outcome<std::uint64_t> card_budget(const std::string& name, std::uint64_t given, std::uint64_t free,
                                         std::uint64_t total);

}  // namespace assay::trainer::cuda
