// SPDX-License-Identifier: Apache-2.0
// Gives tests markets in which games are played: about one number that is off by one ulp, and about nothing,
// by a challenger that lies.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "contracts/rules/dispute/tables.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node::test_market {

using contracts::Game;
using contracts::GameEnd;

inline constexpr std::uint32_t kSegment = 1;

/// One number of an operator's output, off by one ulp in the second step of segment 1 of round 0.
inline PlannedDrill one_ulp() {
    worker::Drill drill{.kind = worker::DrillKind::kOperator, .segment = kSegment, .tensor = ""};
    drill.step = 1;
    drill.operator_index = 17;
    drill.index = 320;
    return {.round = 0, .drill = drill};
}

inline MarketOptions with_windows() {
    MarketOptions options;
    options.claim_window = 120;
    return options;
}

inline std::vector<Game> games_of(const Market& market) {
    const auto job = market.job();
    return job ? contracts::list_games(market.state(), job->id) : std::vector<Game>{};
}

inline std::string words_of(Market& market, const std::string& name) {
    std::string words;
    for (const auto& line : market.party(name).log.lines) words += line + "\n";
    return words;
}

/// The first market of these options in which, of mia's slots of round 0, one is judged by vera and viki
/// alone.
inline std::unique_ptr<Market> judged_without_vito(MarketOptions options) {
    for (std::uint64_t luck = 0; luck < 40; ++luck) {
        options.luck = luck;
        auto market = std::make_unique<Market>(options);
        market->start();
        REQUIRE(market->turn_until([&] { return market->at_phase(0, contracts::RoundPhase::kServe); }));
        const auto slots = slots_of(*market, "mia", 0);
        const auto vito = market->party("vito").node.public_key();
        const bool without = std::all_of(slots.begin(), slots.end(), [&](const auto& slot) {
            return std::find(slot.verifiers.begin(), slot.verifiers.end(), vito) == slot.verifiers.end();
        });
        if (!slots.empty() && without) return market;
    }
    return nullptr;
}

/// Ends the first game; the parties' logs are what a failure prints.
inline void play_first_game(
    Market& market, const std::function<void()>& meanwhile = [] {}) {
    market.turn_until([&] {
        meanwhile();
        const auto games = games_of(market);
        return !games.empty() && !games.front().is_open();
    });
    INFO("mia\n" << words_of(market, "mia"));
    INFO("vito\n" << words_of(market, "vito"));
    REQUIRE_FALSE(games_of(market).empty());
    REQUIRE_FALSE(games_of(market).front().is_open());
}

inline std::unique_ptr<Market> cheated_market() {
    MarketOptions options = with_windows();
    options.drills["mia"] = {one_ulp()};
    options.colluding = {"vera", "viki"};
    options.challenges["vito"] = 1;
    auto market = judged_without_vito(options);
    REQUIRE(market);
    return market;
}

inline void check_one_ulp(const Game& game) {
    CHECK(game.end == GameEnd::kJudged);
    CHECK(game.claimant_lost);
    CHECK(game.unit == dispute::UnitKind::kSegment);
    CHECK(game.part == kSegment);
    CHECK(game.way.at.step == 3);
    CHECK(game.way.at.operator_index == 17);
    CHECK((game.finding.claimed_low ^ game.finding.computed_low) == 1);
}

/// vito's worker computes mia's slot of round 0 otherwise than it is; `consistent`: in its answers about it,
/// too.
inline void lie(Market& market, bool consistent) {
    const std::uint32_t slot = slots_of(market, "mia", 0).front().slot;
    market.party("vito").worker.falsify = [=](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = std::get_if<frames::Train>(&request);
        auto* trained = std::get_if<frames::Trained>(&answer.message);
        if (train != nullptr && trained != nullptr && train->slot == slot && train->round == 0)
            trained->trace.boundaries[kSegment + 1].bytes[0] ^= 1;
        auto* descended = std::get_if<frames::Descended>(&answer.message);
        if (!consistent || descended == nullptr || descended->answer.hashes.empty()) return;
        descended->answer.hashes.back().bytes[0] ^= 1;
    };
}

}  // namespace assay::node::test_market
