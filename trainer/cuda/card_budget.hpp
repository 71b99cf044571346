// SPDX-License-Identifier: Apache-2.0
// Gives cards what plans may use of their memory.
#pragma once

#include <cstdint>
#include <string>

#include "contracts/base/error.hpp"

namespace assay::trainer::cuda {

/// Bytes, of a card that has `free` of `total` now: those `given` by its owner; without them (0) what is
/// free, less a sixteenth of the card, which drivers and libraries take later. kPreflight when so many are
/// not free.
base::Outcome<std::uint64_t> card_budget(const std::string& name, std::uint64_t given, std::uint64_t free,
                                         std::uint64_t total);

}  // namespace assay::trainer::cuda
