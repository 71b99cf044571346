// SPDX-License-Identifier: Apache-2.0
// Gives auditors and pages one number about all money: whether any was made or lost.
#pragma once

#include <cstdint>

#include "contracts/rules/state/supply.hpp"

namespace assay::node {

/// Minted less everything that is somewhere, in base units: 0 unless money was made or lost.
std::int64_t supply_delta(const contracts::Supply& supply);

}  // namespace assay::node
