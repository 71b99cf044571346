// SPDX-License-Identifier: Apache-2.0
// Gives the rules the index of what clocks of games wait for: a block's beginning reads the games and the
// accusations that are due then, and no others, however many games the job has had. An entry of the deadlines
// stands for all of one job and height. Internal to the rules.
#pragma once

#include <cstdint>
#include <optional>
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
/// Claims of a job whose accusers are awaited, at whatever height.
std::vector<ClaimId> list_accused(const StateView& state, const Hash256& job);

Bytes game_due_key(const Hash256& job, std::uint32_t game, std::uint64_t height);
Bytes accusers_due_key(const ClaimId& accused, std::uint64_t height);
/// What an entry names.
struct DueEntry {
    std::uint64_t height = 0;
    std::optional<ClaimId> accused;  ///< nothing: a game
    std::uint32_t game = 0;
};
/// The entry of a key of the index; nothing when it is none.
std::optional<DueEntry> due_in_games_of(ByteView key);

void note_game_due(State& state, const Hash256& job, std::uint32_t game, std::uint64_t height);
/// Takes the height out of the job's deadlines, too, when nothing else is due then. REQUIRES that it was
/// noted.
void forget_game_due(State& state, const Hash256& job, std::uint32_t game, std::uint64_t height);

void note_accusers_due(State& state, const ClaimId& accused, std::uint64_t height);
/// Like forget_game_due.
void forget_accusers_due(State& state, const ClaimId& accused, std::uint64_t height);

}  // namespace assay::contracts
