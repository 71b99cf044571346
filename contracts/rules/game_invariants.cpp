// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/game_invariants.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "contracts/rules/dispute/queue.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

constexpr std::array kQueueTables = {Table::kPlayedGames, Table::kQueuedGame, Table::kQueueHead};

InvariantResult wrong_queue(const PublicKey& claimant) {
    return broken("the games that wait for " + claimant.brief() + " are listed wrongly");
}

std::optional<Game> game_named(const StateView& state, const GameName& name) {
    return load<Game>(state, game_key(name.job, name.number));
}

/// A claimant plays what it is said to play, and nobody waits for one that could play.
InvariantResult check_played(const StateView& before, const StateView& now, const PublicKey& claimant) {
    const auto played = list_played_games(now, claimant);
    for (const PlayedGame& one : played) {
        const auto game = game_named(now, one.game);
        if (!game || game->phase != GamePhase::kRunning || game->claimant != claimant ||
            game->challenger_owner != one.challenger_owner)
            return wrong_queue(claimant);
    }
    for (const PlayedGame& one : list_played_games(before, claimant)) {
        const auto game = game_named(now, one.game);
        const bool stays = std::any_of(played.begin(), played.end(),
                                       [&](const PlayedGame& other) { return other.game == one.game; });
        if (game && (game->phase == GamePhase::kRunning) != stays) return wrong_queue(claimant);
    }
    const bool waits = next_queued(now, claimant).has_value();
    const bool right = played.size() <= kGamesAtOnce && (!waits || played.size() == kGamesAtOnce);
    // Without games there is no list of them.
    const bool listed = now.get(played_games_key(claimant)).has_value();
    return right && listed == !played.empty() ? InvariantResult{} : wrong_queue(claimant);
}

bool has_head(const StateView& state, const QueuedGame& entry) {
    return state.get(queue_head_key(entry.claimant, entry.opened_at, entry.game)).has_value();
}

/// An entry that is there is true; one that is gone left no game that waits.
bool is_right(const StateView& state, ByteView key, const QueuedGame& entry) {
    const auto there = state.get(key);
    if (!entry.challenger_owner) {  // a head; one that is gone has a queue, which is looked at
        if (!there) return true;
        const auto first = first_queued(state, entry.claimant, stored<PublicKey>(*there));
        return first && first->game == entry.game && first->opened_at == entry.opened_at;
    }
    const auto game = game_named(state, entry.game);
    const bool waits = game && game->phase == GamePhase::kQueued;
    if (!there) return !waits;
    const Bytes own = waits ? queued_game_key(entry.game.job, *game) : Bytes{};
    return std::equal(own.begin(), own.end(), key.begin(), key.end());
}

/// The first game of a queue, and it alone, is its head.
InvariantResult check_head(const StateView& before, const StateView& now, const PublicKey& claimant,
                           const PublicKey& owner) {
    const auto old = first_queued(before, claimant, owner);
    const auto first = first_queued(now, claimant, owner);
    if (first && !has_head(now, *first)) return wrong_queue(claimant);
    const bool moved = old && !(first && first->game == old->game);
    return moved && has_head(now, *old) ? wrong_queue(claimant) : InvariantResult{};
}

/// What entries are about: each is looked at once, however many games a block has ended.
struct TouchedQueues {
    std::set<PublicKey> claimants;
    std::set<std::pair<PublicKey, PublicKey>> queues;  ///< claimant, challenger's owner
};

InvariantResult touch_queue(const StateView& before, const StateView& now, ByteView key,
                            TouchedQueues& touched) {
    if (static_cast<Table>(key.front()) == Table::kPlayedGames) {
        if (key.size() != 33) return broken("an entry about games is of no kind");
        touched.claimants.insert(PublicKey{base::hash_from(key.subspan(1)).bytes});
        return {};
    }
    const auto entry = queued_game_of(key);
    if (!entry) return broken("an entry about games is of no kind");
    if (!is_right(now, key, *entry)) return wrong_queue(entry->claimant);
    touched.claimants.insert(entry->claimant);
    auto owner = entry->challenger_owner;
    if (!owner) owner = load<PublicKey>(before, base::to_bytes(key));  // whose head it was
    if (owner) touched.queues.emplace(entry->claimant, *owner);
    return {};
}

InvariantResult check_touched(const StateView& before, const StateView& now, const TouchedQueues& touched) {
    for (const PublicKey& claimant : touched.claimants) ASSAY_TRY(check_played(before, now, claimant));
    for (const auto& [claimant, owner] : touched.queues) ASSAY_TRY(check_head(before, now, claimant, owner));
    return {};
}

}  // namespace

InvariantResult check_queues(const StateView& state) {
    TouchedQueues all;
    for (const Table table : kQueueTables)
        for (const auto& [key, value] : state.scan(table_prefix(table)))
            ASSAY_TRY(touch_queue(state, state, key, all));
    return check_touched(state, state, all);
}

InvariantResult check_queues(const StateView& before, const StateView& now, const std::vector<Bytes>& keys) {
    TouchedQueues touched;
    for (const Bytes& key : keys) ASSAY_TRY(touch_queue(before, now, key, touched));
    return check_touched(before, now, touched);
}

}  // namespace assay::contracts
