// SPDX-License-Identifier: Apache-2.0
// Gives auditors and pages supply_delta(), which tells whether any money was made or lost.
#pragma once

#include <cstdint>

#include "contracts/rules/state/supply.hpp"

namespace assay::node {

/// All minted money less all money that is somewhere, in base units: 0 unless money was made or lost.
std::int64_t supply_delta(const contracts::Supply& supply);

}  // namespace assay::node
