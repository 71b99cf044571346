// SPDX-License-Identifier: Apache-2.0
// How much time a player of a game about a round has, and how much an accuser has to open one, from the
// slowest measured speed. Internal to the rules.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/params.hpp"

namespace assay::contracts {

/// The heights that each player has when a game begins; each move adds Params::dispute_move_window. They are
/// the longer of Params::audit_seal_window and three times what a slot-round takes at the slowest measured
/// speed of the job's members, of which a slot-round counts for at most the commit window. When no member is
/// measured yet, the speed is that of the slowest miner of the disputed round.
std::uint64_t player_clock(const Params& params, const Job& job, const Round& round,
                           const std::vector<SlotRound>& slots);
/// The heights that a verifier has, from the settlement on, to open the game of its accusation that is the
/// `place`-th of its accusations of the round, from 1: one clock for each up to it, since it may have to
/// train each of these slots before. They are at most the largest number. REQUIRES place > 0.
std::uint64_t accusing_window(const Params& params, const Job& job, const Round& round,
                              const std::vector<SlotRound>& slots, std::uint64_t place);

}  // namespace assay::contracts
