// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/dispute_books.hpp"

#include "node/audit/run_record.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::Game;
using contracts::GameEnd;

std::optional<base::PublicKey> loser_of(const Game& game) {
    if (game.is_open() || game.end == GameEnd::kClosed || game.end == GameEnd::kVoid) return std::nullopt;
    return game.claimant_lost ? game.claimant : game.challenger;
}

DisputeBooks::DisputeBooks(const SmallNetwork& network)
    : network_(network), games_(contracts::list_games(network.state(), network.job().id)) {
    for (const Game& game : games_) {
        INFO("dispute " << game.number);
        CHECK_FALSE(game.is_open());
    }
}

std::vector<Game> DisputeBooks::opened_by(const node::Participant& who) const {
    std::vector<Game> found;
    for (const Game& game : games_) {
        if (game.challenger == who.node) found.push_back(game);
    }
    return found;
}

std::vector<Game> DisputeBooks::defended_by(const node::Participant& who) const {
    std::vector<Game> found;
    for (const Game& game : games_) {
        if (game.claimant == who.node) found.push_back(game);
    }
    return found;
}

std::uint64_t DisputeBooks::lost_in_games(const node::Participant& who) const {
    std::uint64_t sum = 0;
    for (const Game& game : games_) {
        if (loser_of(game) == who.node) sum += game.lost.units();
    }
    return sum;
}

void DisputeBooks::check_harmless(const std::vector<node::Participant>& honest) const {
    for (const node::Participant& who : honest) {
        INFO(who.name);
        for (const Game& game : games_) {
            INFO("dispute " << game.number << " ended " << contracts::to_text(game.end));
            CHECK(loser_of(game) != who.node);
        }
        CHECK(network_.lost_by(who) == 0);
    }
}

void DisputeBooks::check_rounds_merged() const {
    const contracts::Job job = network_.job();
    CHECK(job.rounds_done == job.spec.rounds);
    for (std::uint32_t number = 0; number < job.spec.rounds; ++number) {
        INFO("round " << number);
        const auto round = contracts::read_round(network_.state(), job.id, number);
        REQUIRE(round.has_value());
        CHECK_FALSE(round->merged_slots.empty());
    }
}

void DisputeBooks::check_model() const {
    const contracts::Job job = network_.job();
    CHECK(network_.train_alone(node::run_record(network_.state(), job)) == job.base_root);
}

bool DisputeBooks::says(const node::Participant& who, const std::string& words) const {
    return node::log_tail(who.home, who.name, 5'000).find(words) != std::string::npos;
}

}  // namespace assay::tests
