// SPDX-License-Identifier: Apache-2.0
// Gives a block's beginning the withdrawals of stake on their way to a balance: what a height releases.
// Internal to the rules.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Pays the withdrawals whose delay is over, up to kMaxReleasesPerBlock: the rest wait for the next block.
void release_unbonded(Work& work);

/// The height at which the next withdrawal is due; nothing when none waits.
std::optional<std::uint64_t> next_release(const StateView& state);

}  // namespace assay::contracts
