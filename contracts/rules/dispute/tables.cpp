// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/dispute/tables.hpp"

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

std::string_view to_text(GamePhase phase) {
    switch (phase) {
        case GamePhase::kQueued: return "queued";
        case GamePhase::kRunning: return "running";
        case GamePhase::kEnded: break;
    }
    return "ended";
}

std::string_view to_text(GameEnd end) {
    switch (end) {
        case GameEnd::kNone: return "none";
        case GameEnd::kJudged: return "judged";
        case GameEnd::kSilent: return "silent";
        case GameEnd::kConceded: return "conceded";
        case GameEnd::kClosed: return "closed";
        case GameEnd::kVoid: break;
    }
    return "void";
}

Bytes game_key(const Hash256& job, std::uint32_t number) {
    return KeyBuilder(Table::kGame).add(job.view()).add_number(number, 4).take();
}

Bytes game_pieces_key(const Hash256& job, std::uint32_t number) {
    return KeyBuilder(Table::kGamePieces).add(job.view()).add_number(number, 4).take();
}

std::optional<Game> read_game(const StateView& state, const Hash256& job, std::uint32_t number) {
    auto game = load<Game>(state, game_key(job, number));
    if (!game || !game->is_open()) return game;
    if (auto pieces = read_game_pieces(state, job, number)) game->way.posted = std::move(pieces->posted);
    return game;
}

std::optional<GamePieces> read_game_pieces(const StateView& state, const Hash256& job, std::uint32_t number) {
    return load<GamePieces>(state, game_pieces_key(job, number));
}

std::vector<Game> list_games(const StateView& state, const Hash256& job) {
    return list_values<Game>(state, KeyBuilder(Table::kGame).add(job.view()).take());
}

namespace {

std::vector<Game> games_of_numbers(const StateView& state, const Hash256& job,
                                   const std::vector<std::uint32_t>& numbers) {
    std::vector<Game> games;
    for (const std::uint32_t number : numbers)
        games.push_back(required(load<Game>(state, game_key(job, number))));
    return games;
}

}  // namespace

std::vector<Game> list_games_about(const StateView& state, const ClaimId& id) {
    return games_of_numbers(state, id.job, list_game_numbers(state, id));
}

std::vector<Game> list_games_about_open_claims(const StateView& state, const Hash256& job) {
    return games_of_numbers(state, job, list_game_numbers(state, job));
}

Bytes played_games_key(const PublicKey& claimant) {
    return KeyBuilder(Table::kPlayedGames).add(claimant.bytes).take();
}

std::vector<PlayedGame> list_played_games(const StateView& state, const PublicKey& claimant) {
    return load<std::vector<PlayedGame>>(state, played_games_key(claimant))
        .value_or(std::vector<PlayedGame>{});
}

}  // namespace assay::contracts
