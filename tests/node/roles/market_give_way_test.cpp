// SPDX-License-Identifier: Apache-2.0
// Games of a machine that has other work: what is at work gives way to a move in time, for a game of another
// job too, and games and role take turns with the worker.
#include "tests/node/roles/market_games.hpp"

namespace assay::node {
namespace {

using namespace test_market;

constexpr std::uint64_t kMoveWindow = 20;

/// No training ends by a deadline while a game goes on.
MarketOptions with_long_trainings() {
    MarketOptions options = with_windows();
    options.challenges["vito"] = 1;
    options.rounds = 3;
    options.commit_window = 600;
    options.move_window = kMoveWindow;
    return options;
}

MarketOptions of_two_jobs() {
    MarketOptions options = with_long_trainings();
    options.buyers = {"bea", "ben"};
    return options;
}

std::vector<Game> games_in(const Market& market, const std::string& buyer) {
    const auto job = market.job_of(buyer);
    return job ? contracts::list_games(market.state(), job->id) : std::vector<Game>{};
}

bool all_over(const std::vector<Game>& games) {
    return !games.empty() &&
           std::none_of(games.begin(), games.end(), [](const Game& game) { return game.is_open(); });
}

/// vito's worker computes mia's slots of this round of bea's job otherwise than they are, and answers so.
/// `computed` is called for each of them.
void lie_about(
    Market& market, std::uint32_t round,
    const std::function<void(std::uint32_t slot)>& computed = [](auto) {}) {
    LocalWorker& worker = market.party("vito").worker;
    worker.falsify = [&market, &worker, round, computed](const frames::Message& request,
                                                         WorkerAnswered& answer) {
        if (worker.open_seed != market.spec_of("bea").seed) return;
        const auto* train = std::get_if<frames::Train>(&request);
        auto* trained = std::get_if<frames::Trained>(&answer.message);
        if (train != nullptr && trained != nullptr && train->round == round) {
            const auto slot =
                contracts::read_slot(market.state(), market.job_of("bea")->id, round, train->slot);
            if (slot->miner != market.party("mia").node.public_key()) return;
            trained->trace.boundaries[kSegment + 1].bytes[0] ^= 1;
            computed(train->slot);
        }
        auto* descended = std::get_if<frames::Descended>(&answer.message);
        if (descended != nullptr && !descended->answer.hashes.empty())
            descended->answer.hashes.back().bytes[0] ^= 1;
    };
}

/// From the state that the slot goes on with nobody has more than it has now, and `name` has nothing.
void lose_carried(Market& market, const std::string& name, std::uint32_t round, std::uint32_t slot) {
    const auto carried = contracts::carried_in(market.state(), market.job_of("bea")->id, round, slot);
    REQUIRE_FALSE(carried.nothing());
    market.party(name).files->drop(carried.blob);
    for (const auto& [other, party] : market.parties()) market.party(other).withheld.insert(carried.blob);
}

}  // namespace

TEST_CASE("a machine that works for one job gives way to a move of a game in another job") {
    for (const std::size_t devices : {1U, 2U}) {
        for (const bool restarts : {false, true}) {
            INFO(devices << " devices, started again: " << restarts);
            Market market(of_two_jobs());
            market.start();
            lie_about(market, 0);
            LocalWorker& worker = market.party("mia").worker;
            worker.devices = devices;
            bool at_work = false;  // for the other job, before there is a game
            worker.holds = [&](const frames::Message& message) {
                const auto* train = std::get_if<frames::Train>(&message);
                const bool held =
                    train != nullptr && train->round > 0 && worker.open_seed == market.spec_of("ben").seed;
                at_work = at_work || held;
                return held;
            };
            market.party("vito").worker.holds = [&](const frames::Message& message) {
                return !at_work && std::holds_alternative<frames::Train>(message);
            };
            bool restarted = false;
            market.turn_until(
                [&] {
                    const auto games = games_in(market, "bea");
                    if (restarts && !games.empty() && games.front().moves == 3 &&
                        !std::exchange(restarted, true))
                        market.restart_miner("mia");
                    return all_over(games);
                },
                1'000);
            INFO("mia\n" << words_of(market, "mia"));
            const auto games = games_in(market, "bea");
            REQUIRE(all_over(games));
            CHECK(restarted == restarts);
            CHECK(games.front().end == GameEnd::kJudged);
            CHECK_FALSE(games.front().claimant_lost);
            CHECK(worker.cancelled[frames::FrameKind::kTrain] > 0);
            check_nobody_ended(market);
        }
    }
}

TEST_CASE("a role that gave way has until three quarters of a move's time, until it has finished something") {
    MarketOptions options = with_long_trainings();
    options.miners = {"mia"};  // one slot waits while the other is trained
    Market market(options);
    market.start();
    lie_about(market, 0);
    LocalWorker& worker = market.party("mia").worker;
    int allowed = 0;  // trainings that may end
    worker.holds = [&](const frames::Message& message) {
        const auto* train = std::get_if<frames::Train>(&message);
        return train != nullptr && train->round > 0 && allowed == 0;
    };
    worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = std::get_if<frames::Train>(&request);
        if (train != nullptr && train->round > 0 && answer.last) --allowed;
    };
    struct GaveWay {
        std::uint64_t waited, whole;
        [[nodiscard]] bool before_three_quarters() const { return waited < whole / 2 + whole / 4; }
    };
    std::vector<GaveWay> ways;
    int cancelled = 0;
    play_first_game(market, [&] {
        const int now = worker.cancelled[frames::FrameKind::kTrain];
        if (std::exchange(cancelled, now) == now) return;
        const Game game = games_of(market).front();
        ways.push_back({market.height() - game.turn_since, game.due - game.turn_since});
        if (ways.size() == 3) allowed = 1;
    });
    CHECK(games_of(market).front().end == GameEnd::kJudged);
    CHECK_FALSE(games_of(market).front().claimant_lost);
    REQUIRE(ways.size() > 4);
    for (std::size_t i = 0; i < ways.size(); ++i) {
        INFO(i << ": " << ways[i].waited << " of " << ways[i].whole);
        CHECK(ways[i].waited >= ways[i].whole / 2);
        // What was allowed ended behind the third.
        CHECK(ways[i].before_three_quarters() == (i == 0 || i == 3));
    }
}

TEST_CASE("of two games the one whose files are here is played, though the other's clock ends first") {
    MarketOptions options = with_long_trainings();
    options.miners = {"mia"};
    options.inner_state = program::InnerState::kCarried;
    Market market(options);
    market.start();
    lie_about(market, 1, [&](std::uint32_t slot) {
        if (slot == 0) lose_carried(market, "mia", 1, slot);
    });
    market.turn_until(
        [&] { return games_in(market, "bea").size() == 2 && all_over(games_in(market, "bea")); });
    INFO("mia\n" << words_of(market, "mia"));
    const auto games = games_in(market, "bea");
    REQUIRE(games.size() == 2);
    for (const Game& game : games) {
        INFO("slot " << game.claim);
        CHECK(game.end == (game.claim == 0 ? GameEnd::kSilent : GameEnd::kJudged));
        CHECK(game.claimant_lost == (game.claim == 0));
    }
    CHECK(games[0].claim == 0);
    CHECK(games[0].opened_at <= games[1].opened_at);
}

TEST_CASE("a game that lacks files leaves the worker to the role's audits in another job") {
    MarketOptions options = of_two_jobs();
    options.inner_state = program::InnerState::kCarried;
    options.rounds = 4;
    Market market(options);
    market.start();
    std::optional<std::uint64_t> lost_at;
    lie_about(market, 1, [&](std::uint32_t slot) {
        lose_carried(market, "vito", 1, slot);
        if (!lost_at) lost_at = market.height();
    });
    REQUIRE(
        market.turn_until([&] { return market.job_of("ben")->phase == contracts::JobPhase::kEnded; }, 800));
    const auto games = games_in(market, "bea");
    REQUIRE_FALSE(games.empty());
    CHECK(games.front().end == GameEnd::kSilent);
    CHECK_FALSE(games.front().claimant_lost);
    CHECK(market.job_of("ben")->end_reason == contracts::Reason::kJobComplete);
    const auto whole = market.with_evidence();
    std::size_t opened = 0;  // after the game had begun
    for (std::uint32_t round = 2; round < 4; ++round) {
        for (const auto stage : contracts::kStages) {
            const auto posting = contracts::read_audit(whole, market.job_of("ben")->id, round, stage,
                                                       market.party("vito").node.public_key());
            if (!posting) continue;
            INFO("round " << round);
            CHECK(posting->opened);
            opened += posting->called_at > lost_at.value() ? 1U : 0U;
        }
    }
    CHECK(opened > 0);
}

}  // namespace assay::node
