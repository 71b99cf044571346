// SPDX-License-Identifier: Apache-2.0
// Gives the settlement of rounds the note of what a machine was seen to do, and the market the deposit that
// stands behind a class which nobody measured yet. Internal to the rules.
#pragma once

#include <cstdint>

#include "contracts/base/wide.hpp"
#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Recent rounds whose best is a machine's verified speed. The best, because waiting and short rounds only
/// ever show less than what a machine can do.
inline constexpr std::size_t kSpeedsKept = 8;

/// `work_units` of one round found right, in so many heights.
void note_speed(State& state, const PublicKey& node, program::Profile profile, base::Uint128 work_units,
                std::uint64_t heights);

/// Holds the deposit of an opened lot behind its class, or gives it back where the speed is measured or one
/// is held already.
void hold_class_deposit(State& state, const PublicKey& node, const LotClass& kind, Amount deposit);
/// Gives back what is held behind a class, or burns it where two or more bits of speed are missing.
void settle_class_deposit(Work& work, const PublicKey& node, program::Profile profile);

}  // namespace assay::contracts
