// SPDX-License-Identifier: Apache-2.0
// Games in the simulator, where a worker hashes: false claims that nobody was drawn for are defeated, and who
// is right loses nothing to whoever challenges it.
#include "node/sim/world.hpp"
#include "tests/node/executed_once.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::sim {
namespace {

using contracts::Game;
using contracts::GameEnd;

WorldSetup market(FalseUnits cheat) {
    WorldSetup setup;
    setup.seed = 5;
    setup.slots = 8;
    setup.segment_rate = UINT64_MAX / 16;
    setup.finalise_rate = cheat == FalseUnits::kFinalise ? UINT64_MAX / 16 : UINT64_MAX;
    setup.parties = {{.name = "buyer", .role = WorkRole::kBuyer, .behaviour = {}},
                     {.name = "cheat", .role = WorkRole::kMiner, .behaviour = {}},
                     {.name = "miner", .role = WorkRole::kMiner, .behaviour = {}}};
    setup.parties[1].behaviour.false_units = cheat;
    setup.parties[1].behaviour.defends_lies = true;
    for (const char* name : {"v1", "v2", "v3"})
        setup.parties.push_back({.name = name, .role = WorkRole::kVerifier, .behaviour = {}});
    return setup;
}

JobOutcome sold(const WorldSetup& setup, std::unique_ptr<World>& world) {
    test::execute_once();
    auto opened = World::open(setup);
    if (!opened.ok()) FAIL(opened.error().what);
    world = std::move(*opened);
    auto outcome = world->run_job();
    if (!outcome.ok()) FAIL(outcome.error().what);
    CHECK(outcome->why == contracts::Reason::kJobComplete);
    return *outcome;
}

}  // namespace

TEST_CASE("a simulated cheat that nobody was drawn for loses the games about every slot of it") {
    for (const FalseUnits cheat :
         {FalseUnits::kOne, FalseUnits::kAll, FalseUnits::kFinalise, FalseUnits::kPlace}) {
        INFO("false units: " << static_cast<int>(cheat));
        WorldSetup setup = market(cheat);
        setup.parties.back().behaviour.challenge = 1;
        std::unique_ptr<World> world;
        const JobOutcome outcome = sold(setup, world);
        REQUIRE_FALSE(outcome.games.empty());
        std::size_t lost = 0;
        for (const Game& game : outcome.games) {
            INFO("game " << game.number << ", " << to_text(game.unit) << ", " << to_text(game.end));
            CHECK(game.claimant == world->party("cheat").node.public_key());
            CHECK(game.end != GameEnd::kSilent);
            if (game.claimant_lost) ++lost;
        }
        CHECK(lost > 0);
    }
}

TEST_CASE("where nobody cheats, who computes every slot again challenges none") {
    WorldSetup setup = market(FalseUnits::kNone);
    for (auto& party : setup.parties)
        if (party.role == WorkRole::kVerifier) party.behaviour.challenge = 1;
    std::unique_ptr<World> world;
    CHECK(sold(setup, world).games.empty());
}

}  // namespace assay::node::sim
