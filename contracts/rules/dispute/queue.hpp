// SPDX-License-Identifier: Apache-2.0
// The games that a claimant plays, and those that wait until it plays fewer, for the rules. What a game costs
// to open, to start or to end does not grow with the number of the claimant's open games: the games that run
// are at most kGamesAtOnce, and of those that wait an index names the first of each challenger's owner.
// Internal to the rules.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/rules/dispute/records.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// The game is one of those that its claimant plays.
void note_played(State& state, const Hash256& job, const Game& game);
/// REQUIRES that it was noted.
void forget_played(State& state, const Hash256& job, const Game& game);

Bytes queued_game_key(const Hash256& job, const Game& game);
Bytes queue_head_key(const PublicKey& claimant, std::uint64_t opened_at, const GameName& game);
/// A game that waits, as the keys of both tables name it.
struct QueuedGame {
    PublicKey claimant;
    std::uint64_t opened_at = 0;
    GameName game;
    std::optional<PublicKey> challenger_owner;  ///< nothing: the entry is a head, whose record names it
};
/// The entry that a key of one of the tables encodes; nothing when it is no such key.
std::optional<QueuedGame> queued_game_of(ByteView key);

/// The game waits, behind the games of its challenger's owner that were opened before it.
void enqueue_game(State& state, const Hash256& job, const Game& game);
/// REQUIRES that it waits.
void dequeue_game(State& state, const Hash256& job, const Game& game);

/// The first game that waits for the claimant among those of this owner.
std::optional<QueuedGame> first_queued(const StateView& state, const PublicKey& claimant,
                                       const PublicKey& challenger_owner);
/// The game that starts next: of the challengers' owners with the fewest running games against the claimant,
/// the one that has waited longest. Whoever fills a friend's queue holds up nobody else's first game by more
/// than those that run. Reads at most one entry more than games run.
std::optional<GameName> next_queued(const StateView& state, const PublicKey& claimant);

}  // namespace assay::contracts
