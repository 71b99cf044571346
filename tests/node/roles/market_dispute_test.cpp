// SPDX-License-Identifier: Apache-2.0
// Games that the roles of a market play by themselves, over real workers: who cheats or accuses falsely loses on
// the ledger, and training goes on.
#include "contracts/rules/dispute/tables.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Game;
using contracts::GameEnd;
using contracts::Reason;
using contracts::RoundPhase;

constexpr std::uint32_t kSegment = 1;

/// One number of an operator's output, off by one ulp in the second step of segment 1 of round 0.
PlannedDrill one_ulp() {
    worker::Drill drill{.kind = worker::DrillKind::kOperator, .segment = kSegment, .tensor = ""};
    drill.step = 1;
    drill.operator_index = 17;
    drill.index = 320;
    return {.round = 0, .drill = drill};
}

MarketOptions with_windows() {
    MarketOptions options;
    options.claim_window = 120;
    return options;
}

std::vector<Game> games_of(const Market& market) {
    const auto job = market.job();
    return job ? contracts::list_games(market.state(), job->id) : std::vector<Game>{};
}

std::string words_of(Market& market, const std::string& name) {
    std::string words;
    for (const auto& line : market.party(name).log.lines) words += line + "\n";
    return words;
}

/// The first market of these options in which, of mia's slots of round 0, one is judged by vera and viki alone.
std::unique_ptr<Market> judged_without_vito(MarketOptions options) {
    for (std::uint64_t luck = 0; luck < 40; ++luck) {
        options.luck = luck;
        auto market = std::make_unique<Market>(options);
        market->start();
        REQUIRE(market->turn_until([&] { return market->at_phase(0, RoundPhase::kServe); }));
        const auto slots = slots_of(*market, "mia", 0);
        const auto vito = market->party("vito").node.public_key();
        const bool without = std::all_of(slots.begin(), slots.end(), [&](const auto& slot) {
            return std::find(slot.verifiers.begin(), slot.verifiers.end(), vito) == slot.verifiers.end();
        });
        if (!slots.empty() && without) return market;
    }
    return nullptr;
}

}  // namespace

TEST_CASE("a panel passes a number that is off by one ulp, and who was not drawn has it forfeited") {
    MarketOptions options = with_windows();
    options.drills["mia"] = {one_ulp()};
    options.colluding = {"vera", "viki"};
    options.challenges["vito"] = 1;
    const auto market = judged_without_vito(options);
    REQUIRE(market);
    REQUIRE(market->turn_until([&] { return market->settled(0); }));
    for (const auto& slot : slots_of(*market, "mia", 0)) CHECK(slot.verdict == Reason::kPaid);
    market->turn_until([&] { return !games_of(*market).empty() && !games_of(*market).front().is_open(); });
    INFO("mia\n" << words_of(*market, "mia"));
    INFO("vito\n" << words_of(*market, "vito"));
    const auto games = games_of(*market);
    REQUIRE(!games.empty());
    const Game& game = games.front();
    REQUIRE_FALSE(game.is_open());
    CHECK(game.end == GameEnd::kJudged);
    CHECK(game.claimant_lost);
    CHECK(game.unit == dispute::UnitKind::kSegment);
    CHECK(game.part == kSegment);
    CHECK(game.way.at.step == 3);
    CHECK(game.way.at.operator_index == 17);
    CHECK((game.finding.claimed_low ^ game.finding.computed_low) == 1);
    REQUIRE(market->turn_until([&] { return market->ended(); }));
    check_nobody_ended(*market);
}

}  // namespace assay::node
