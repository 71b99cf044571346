// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/dispute/queue.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

constexpr std::size_t kKey = 32;
constexpr std::size_t kDateAndName = 8 + 32 + 4;  // height, job, number

KeyBuilder of_claimant(Table table, const PublicKey& claimant) {
    return std::move(KeyBuilder(table).add(claimant.bytes));
}

Bytes queue_prefix(const PublicKey& claimant, const PublicKey& challenger_owner) {
    return of_claimant(Table::kQueuedGame, claimant).add(challenger_owner.bytes).take();
}

PublicKey key_in(ByteView part) { return PublicKey{base::hash_from(part.first(kKey)).bytes}; }

/// The first game of the queue that does not stand before `from`.
std::optional<QueuedGame> first_from(const StateView& state, const Bytes& prefix, const Bytes& from) {
    std::optional<QueuedGame> first;
    state.for_each(prefix, from, [&](ByteView key, ByteView) {
        first = required(queued_game_of(key));
        return false;
    });
    return first;
}

void put_head(State& state, const QueuedGame& first) {
    store(state, queue_head_key(first.claimant, first.opened_at, first.game), *first.challenger_owner);
}

}  // namespace

void note_played(State& state, const Hash256& job, const Game& game) {
    auto played = list_played_games(state, game.claimant);
    played.push_back({{job, game.number}, game.challenger_owner});
    store(state, played_games_key(game.claimant), played);
}

void forget_played(State& state, const Hash256& job, const Game& game) {
    auto played = list_played_games(state, game.claimant);
    const auto ended = [&](const PlayedGame& one) { return one.game == GameName{job, game.number}; };
    ASSAY_CHECK(std::erase_if(played, ended) == 1);
    if (played.empty()) return state.erase(played_games_key(game.claimant));
    store(state, played_games_key(game.claimant), played);
}

Bytes queued_game_key(const Hash256& job, const Game& game) {
    return of_claimant(Table::kQueuedGame, game.claimant)
        .add(game.challenger_owner.bytes)
        .add_number(game.opened_at, 8)
        .add(job.view())
        .add_number(game.number, 4)
        .take();
}

Bytes queue_head_key(const PublicKey& claimant, std::uint64_t opened_at, const GameName& game) {
    return of_claimant(Table::kQueueHead, claimant)
        .add_number(opened_at, 8)
        .add(game.job.view())
        .add_number(game.number, 4)
        .take();
}

std::optional<QueuedGame> queued_game_of(ByteView key) {
    if (key.empty()) return std::nullopt;
    const bool waits = key.front() == static_cast<std::uint8_t>(Table::kQueuedGame);
    const bool head = key.front() == static_cast<std::uint8_t>(Table::kQueueHead);
    if ((!waits && !head) || key.size() != 1 + kKey + (waits ? kKey : 0) + kDateAndName) return std::nullopt;
    QueuedGame entry;
    entry.claimant = key_in(key.subspan(1));
    if (waits) entry.challenger_owner = key_in(key.subspan(1 + kKey));
    const ByteView rest = key.last(kDateAndName);
    entry.opened_at = number_in(rest.first(8));
    entry.game = {base::hash_from(rest.subspan(8, 32)),
                  static_cast<std::uint32_t>(number_in(rest.subspan(40)))};
    return entry;
}

void enqueue_game(State& state, const Hash256& job, const Game& game) {
    const auto first = first_queued(state, game.claimant, game.challenger_owner);
    const QueuedGame own{game.claimant, game.opened_at, {job, game.number}, game.challenger_owner};
    state.put(queued_game_key(job, game), {});
    // Games of one height stand in the order of their names: the new one need not be the last.
    const auto place = [](const QueuedGame& one) {
        return std::tie(one.opened_at, one.game.job, one.game.number);
    };
    if (first && place(*first) < place(own)) return;
    if (first) state.erase(queue_head_key(first->claimant, first->opened_at, first->game));
    put_head(state, own);
}

void dequeue_game(State& state, const Hash256& job, const Game& game) {
    const Bytes key = queued_game_key(job, game);
    ASSAY_CHECK(state.get(key).has_value());
    state.erase(key);
    const Bytes head = queue_head_key(game.claimant, game.opened_at, {job, game.number});
    if (!state.get(head)) return;
    state.erase(head);
    // It was the first one: the next stands behind it. What left the queue before it is not walked over
    // again.
    const auto next = first_from(state, queue_prefix(game.claimant, game.challenger_owner), key);
    if (next) put_head(state, *next);
}

std::optional<QueuedGame> first_queued(const StateView& state, const PublicKey& claimant,
                                       const PublicKey& challenger_owner) {
    const Bytes prefix = queue_prefix(claimant, challenger_owner);
    return first_from(state, prefix, prefix);
}

std::optional<GameName> next_queued(const StateView& state, const PublicKey& claimant) {
    const auto played = list_played_games(state, claimant);
    std::optional<std::pair<std::ptrdiff_t, GameName>> next;
    const Bytes heads = of_claimant(Table::kQueueHead, claimant).take();
    state.for_each(heads, heads, [&](ByteView key, ByteView value) {
        const auto owner = stored<PublicKey>(value);
        const auto others = std::count_if(played.begin(), played.end(), [&](const PlayedGame& one) {
            return one.challenger_owner == owner;
        });
        if (!next || others < next->first) next = {others, required(queued_game_of(key)).game};
        return others > 0;
    });
    return next ? std::optional(next->second) : std::nullopt;
}

}  // namespace assay::contracts
