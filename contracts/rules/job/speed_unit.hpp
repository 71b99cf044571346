// SPDX-License-Identifier: Apache-2.0
// The unit of every speed that the ledger stores.
#pragma once

#include <cstdint>

namespace assay::contracts {

/// Speeds are counted in thousandths of a work unit per height.
inline constexpr std::uint64_t kSpeedUnit = 1'000;

}  // namespace assay::contracts
