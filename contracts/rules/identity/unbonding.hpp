// SPDX-License-Identifier: Apache-2.0
// Withdrawals of stake, for the rules, which release them to balances at the beginning of a block, and for
// readers of the state.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/rules/identity/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Pays the withdrawals whose delay is over, at most kMaxReleasesPerBlock; the rest wait for the next block.
/// Internal to the rules.
void release_unbonded(Work& work);

/// The height at which the next withdrawal is due; nothing when none waits.
std::optional<std::uint64_t> next_release(const StateView& state);

/// Every withdrawal that waits, in the order in which they are paid, with the height whose beginning pays it.
std::vector<std::pair<std::uint64_t, Unbonding>> list_unbonding(const StateView& state);

}  // namespace assay::contracts
