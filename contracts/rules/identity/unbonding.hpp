// SPDX-License-Identifier: Apache-2.0
// Releases withdrawals of stake to balances at the beginning of a block. Internal to the rules.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Pays the withdrawals whose delay is over, at most kMaxReleasesPerBlock; the rest wait for the next block.
void release_unbonded(Work& work);

/// The height at which the next withdrawal is due; nothing when none waits.
std::optional<std::uint64_t> next_release(const StateView& state);

}  // namespace assay::contracts
