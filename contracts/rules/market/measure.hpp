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
/// because waiting only ever shows less than what the machine can do.
inline constexpr std::size_t kSpeedsKept = 8;

/// Heights of a round that say nothing of the machine: it hears of the round and fetches what that starts
/// from, and its commit waits for a block.
inline constexpr std::uint64_t kHeightsUnseen = 8;
/// From so many heights on both bounds of a speed (note_speed) are within a seventh of each other.
inline constexpr std::uint64_t kHeightsThatTell = 8 * kHeightsUnseen;

/// Records what a round shows of the machine's speed, which did `work_units`, found right, in so many
/// heights. Its speed lies between the work over these heights and the work over kHeightsUnseen fewer. If
/// that leaves open whether the machine is as fast as it is taken to be (by its measured speed, else by the
/// class behind which its deposit is held), the round says nothing and is not kept. Otherwise the bound that
/// is nearer to that speed is: the first if it shows as many bits or more, or if nothing is known yet; the
/// second if it refutes them. A round of fewer than kHeightsThatTell heights refutes a class behind which a
/// deposit is held by the bits that cost the deposit, or by bounds that have the same bits.
void note_speed(State& state, const PublicKey& node, program::Profile profile, base::Uint128 work_units,
                std::uint64_t heights);

/// Holds the deposit of an opened lot behind its class, or gives it back if the speed is measured or a
/// deposit is already held.
void hold_class_deposit(State& state, const PublicKey& node, const LotClass& kind, Amount deposit);
/// Gives back the deposit behind a class, or burns it if the measured speed is two or more bits below the
/// class's.
void settle_class_deposit(Work& work, const PublicKey& node, program::Profile profile);

}  // namespace assay::contracts
