// SPDX-License-Identifier: Apache-2.0
// Gives rules and plans the time that a player of a game has, and that an accuser has to begin one, from the
// slowest measured speed of the job. Internal to the rules.
#pragma once

#include <cstdint>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/params.hpp"

namespace assay::contracts {

/// The heights that each player has as a game begins, beside Params::dispute_move_window for each move: three
/// times a slot-round's work at the slowest measured speed, at most three times the commit window.
std::uint64_t player_clock(const Params& params, const Job& job);
/// The heights that a verifier has to open the game of its accusation.
std::uint64_t accusing_window(const Params& params, const Job& job);

}  // namespace assay::contracts
