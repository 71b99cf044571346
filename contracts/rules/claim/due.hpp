// SPDX-License-Identifier: Apache-2.0
// Gives the rules the index of what clocks of games wait for: a block's beginning reads the games and the
// accusations that are due then, and no others, however many games the job has had. An entry of the deadlines
// stands for all of one job and height. Internal to the rules.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// What is due at one height in the games of one job, ascending.
struct DueInGames {
    std::vector<ClaimId> accused;      ///< claims whose accusers have no time left (Claim::accuse_by)
    std::vector<std::uint32_t> games;  ///< by number (Game::due)
};
/// Reads these entries alone.
DueInGames list_due_in_games(const StateView& state, const Hash256& job, std::uint64_t height);
/// All entries of a job, whatever their height.
std::size_t count_due_in_games(const StateView& state, const Hash256& job);

void note_game_due(State& state, const Hash256& job, std::uint32_t game, std::uint64_t height);
/// Takes the height out of the job's deadlines, too, when nothing else is due then. REQUIRES that it was
/// noted.
void forget_game_due(State& state, const Hash256& job, std::uint32_t game, std::uint64_t height);

void note_accusers_due(State& state, const ClaimId& accused, std::uint64_t height);
/// Like forget_game_due.
void forget_accusers_due(State& state, const ClaimId& accused, std::uint64_t height);

}  // namespace assay::contracts
