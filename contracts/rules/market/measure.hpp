// SPDX-License-Identifier: Apache-2.0
// Records the measured speed of a machine, for the settlement of rounds, and keeps the deposit behind a class
// that is not yet measured, for the market. Internal to the rules.
#pragma once

#include <cstdint>

#include "contracts/base/wide.hpp"
#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// The number of recent rounds that are kept; the best of them is a machine's verified speed. The best,
/// because waiting and short rounds only ever show less than what the machine can do.
inline constexpr std::size_t kSpeedsKept = 8;

/// Records that the machine did `work_units` of one round, found right, in so many heights.
void note_speed(State& state, const PublicKey& node, program::Profile profile, base::Uint128 work_units,
                std::uint64_t heights);

/// Holds the deposit of an opened lot behind its class, or gives it back if the speed is measured or a
/// deposit is already held.
void hold_class_deposit(State& state, const PublicKey& node, const LotClass& kind, Amount deposit);
/// Gives back the deposit behind a class, or burns it if the measured speed is two or more bits below the
/// class's.
void settle_class_deposit(Work& work, const PublicKey& node, program::Profile profile);

}  // namespace assay::contracts
