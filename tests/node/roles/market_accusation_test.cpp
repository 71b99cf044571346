// SPDX-License-Identifier: Apache-2.0
// Drawn verifiers that found another root than a miner revealed: they open the game that they owe by
// themselves, over real workers, and whoever is wrong pays on the ledger.
#include "contracts/rules/dispute/tables.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Game;
using contracts::GameEnd;
using contracts::Reason;

/// One number of an operator's output, off by one ulp in the first step of segment 1 of round 0.
PlannedDrill slipped_number() {
    worker::Drill drill{.kind = worker::DrillKind::kOperator, .segment = 1, .tensor = ""};
    drill.operator_index = 17;
    drill.index = 320;
    return {.round = 0, .drill = drill};
}

MarketOptions accusing() {
    MarketOptions options;
    options.claim_window = 120;
    return options;
}

std::vector<Game> games_in(const Market& market) {
    const auto job = market.job();
    return job ? contracts::list_games(market.state(), job->id) : std::vector<Game>{};
}

bool all_ended(const Market& market) {
    const auto games = games_in(market);
    return !games.empty() &&
           std::none_of(games.begin(), games.end(), [](const Game& game) { return game.is_open(); });
}

std::string told_by(Market& market, const std::string& name) {
    std::string words;
    for (const auto& line : market.party(name).log.lines) words += line + "\n";
    return words;
}

}  // namespace

TEST_CASE(
    "who was drawn and found one ulp opens its game without a bond, and the ledger convicts the miner") {
    MarketOptions options = accusing();
    options.drills["mia"] = {slipped_number()};
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    const auto slots = slots_of(market, "mia", 0);
    REQUIRE_FALSE(slots.empty());
    for (const auto& slot : slots) {
        CHECK(slot.verdict == Reason::kPaidAccused);
        CHECK(slot.fault_unit == 1);
    }
    for (const auto& slot : slots_of(market, "moe", 0)) CHECK(slot.verdict == Reason::kPaid);
    market.turn_until([&] { return all_ended(market); });
    INFO("mia\n" << told_by(market, "mia"));
    INFO("vera\n" << told_by(market, "vera"));
    REQUIRE(all_ended(market));
    std::size_t judged = 0;
    for (const Game& game : games_in(market)) {
        CHECK(game.accuses);
        CHECK(game.bond.is_zero());
        if (game.end == GameEnd::kClosed) continue;  // the claim died in another one
        ++judged;
        CHECK(game.end == GameEnd::kJudged);
        CHECK(game.claimant_lost);
        CHECK(game.way.at.operator_index == 17);
        CHECK((game.finding.claimed_low ^ game.finding.computed_low) == 1);
        CHECK_FALSE(game.fees.is_zero());
        CHECK_FALSE(game.to_winner.is_zero());
    }
    CHECK(judged == slots.size());
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    CHECK(market.job()->end_reason == Reason::kJobComplete);
    check_nobody_ended(market);
}

TEST_CASE(
    "a verifier that makes up its roots opens no game that it can win, and pays for the slot it kept out") {
    MarketOptions options = accusing();
    options.conducts["vito"] = Misconduct::kRubberStamp;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    std::size_t accused = 0;
    for (const char* miner : {"mia", "moe"}) {
        for (const auto& slot : slots_of(market, miner, 0))
            accused += slot.verdict == Reason::kPaidAccused ? 1 : 0;
    }
    REQUIRE(accused > 0);
    market.turn_until([&] { return games_in(market).size() >= accused && all_ended(market); });
    INFO("vito\n" << told_by(market, "vito"));
    REQUIRE(all_ended(market));
    for (const Game& game : games_in(market)) {
        CHECK(game.accuses);
        CHECK(game.challenger == market.party("vito").node.public_key());
        CHECK_FALSE(game.claimant_lost);
        CHECK_FALSE(game.lost.is_zero());
    }
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    check_nobody_ended(market);
}

}  // namespace assay::node
