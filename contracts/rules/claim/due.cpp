// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/claim/due.hpp"

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

// Behind table, job and height: what it is, and its name.
constexpr std::size_t kHeight = 1 + 32;
constexpr std::size_t kWhat = kHeight + 8;
constexpr std::uint8_t kDueAccusers = 1;
constexpr std::uint8_t kDueGame = 2;

KeyBuilder of_job(const Hash256& job) { return std::move(KeyBuilder(Table::kDueInGames).add(job.view())); }

void note_due(State& state, const Bytes& key, const Hash256& job, std::uint64_t height) {
    state.put(key, {});
    state.put(deadline_key({height, DueKind::kGames, job}), {});
}

void forget_due(State& state, const Bytes& key, const Hash256& job, std::uint64_t height) {
    ASSAY_CHECK(state.get(key).has_value());
    state.erase(key);
    if (!has_any(state, of_job(job).add_number(height, 8).take()))
        state.erase(deadline_key({height, DueKind::kGames, job}));
}

}  // namespace

Bytes game_due_key(const Hash256& job, std::uint32_t game, std::uint64_t height) {
    return of_job(job).add_number(height, 8).add_number(kDueGame, 1).add_number(game, 4).take();
}

Bytes accusers_due_key(const ClaimId& accused, std::uint64_t height) {
    return of_job(accused.job)
        .add_number(height, 8)
        .add_number(kDueAccusers, 1)
        .add_number(accused.round, 4)
        .add_number(static_cast<std::uint64_t>(accused.kind), 1)
        .add_number(accused.number, 4)
        .take();
}

std::optional<DueEntry> due_in_games_of(ByteView key) {
    if (key.size() <= kWhat) return std::nullopt;
    DueEntry entry;
    entry.height = number_in(key.subspan(kHeight, 8));
    const ByteView name = key.subspan(kWhat + 1);
    if (key[kWhat] == kDueGame && name.size() == 4) {
        entry.game = static_cast<std::uint32_t>(number_in(name));
        return entry;
    }
    const bool kind = name.size() == 9 && (name[4] == static_cast<std::uint8_t>(ClaimKind::kSlot) ||
                                           name[4] == static_cast<std::uint8_t>(ClaimKind::kMerge));
    if (key[kWhat] != kDueAccusers || !kind) return std::nullopt;
    entry.accused =
        ClaimId{base::hash_from(key.subspan(1, 32)), static_cast<std::uint32_t>(number_in(name.first(4))),
                static_cast<ClaimKind>(name[4]), static_cast<std::uint32_t>(number_in(name.subspan(5)))};
    return entry;
}

DueInGames list_due_in_games(const StateView& state, const Hash256& job, std::uint64_t height) {
    DueInGames due;
    const Bytes prefix = of_job(job).add_number(height, 8).take();
    state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
        const DueEntry entry = required(due_in_games_of(key));
        if (entry.accused) {
            due.accused.push_back(*entry.accused);
        } else {
            due.games.push_back(entry.game);
        }
        return true;
    });
    return due;
}

std::vector<ClaimId> list_accused(const StateView& state, const Hash256& job) {
    std::vector<ClaimId> accused;
    const Bytes prefix = of_job(job).take();
    state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
        const DueEntry entry = required(due_in_games_of(key));
        if (entry.accused) accused.push_back(*entry.accused);
        return true;
    });
    return accused;
}

void note_game_due(State& state, const Hash256& job, std::uint32_t game, std::uint64_t height) {
    note_due(state, game_due_key(job, game, height), job, height);
}

void forget_game_due(State& state, const Hash256& job, std::uint32_t game, std::uint64_t height) {
    forget_due(state, game_due_key(job, game, height), job, height);
}

void note_accusers_due(State& state, const ClaimId& accused, std::uint64_t height) {
    note_due(state, accusers_due_key(accused, height), accused.job, height);
}

void forget_accusers_due(State& state, const ClaimId& accused, std::uint64_t height) {
    forget_due(state, accusers_due_key(accused, height), accused.job, height);
}

}  // namespace assay::contracts
