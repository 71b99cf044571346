// SPDX-License-Identifier: Apache-2.0
// The index of games and accusations by the height at which their time is up, for the rules. The beginning of
// a block reads only those that are due then, however many games the job has had. One entry of the deadlines
// covers all of one job and height. Internal to the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// What is due at one height in the games of one job, ascending.
struct DueInGames {
    std::vector<ClaimId> accused;      ///< claims whose accusers' time is over (Claim::accuse_by)
    std::vector<std::uint32_t> games;  ///< by number (Game::due)
};
/// Reads only these entries.
DueInGames list_due_in_games(const StateView& state, const Hash256& job, std::uint64_t height);
/// The claims of a job that still wait for accusers, at any height.
std::vector<ClaimId> list_accused(const StateView& state, const Hash256& job);

Bytes game_due_key(const Hash256& job, std::uint32_t game, std::uint64_t height);
Bytes accusers_due_key(const ClaimId& accused, std::uint64_t height);
/// What an entry names.
struct DueEntry {
    std::uint64_t height = 0;
    std::optional<ClaimId> accused;  ///< nothing when the entry is about a game
    std::uint32_t game = 0;
};
/// The entry that a key of the index encodes; nothing when it is no such key.
std::optional<DueEntry> due_in_games_of(ByteView key);

void note_game_due(State& state, const Hash256& job, std::uint32_t game, std::uint64_t height);
/// Removes the entry, and the height from the job's deadlines when nothing else is due then. REQUIRES that
/// the entry was noted.
void forget_game_due(State& state, const Hash256& job, std::uint32_t game, std::uint64_t height);

void note_accusers_due(State& state, const ClaimId& accused, std::uint64_t height);
/// Like forget_game_due.
void forget_accusers_due(State& state, const ClaimId& accused, std::uint64_t height);

}  // namespace assay::contracts
