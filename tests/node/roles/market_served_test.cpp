// SPDX-License-Identifier: Apache-2.0
// Games about units whose start a miner serves: noise in its place costs no honest player its game, and who
// vouched for a right unit behind a false one defends it from the start that it was given.
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Game;
using contracts::Reason;
using dispute::UnitKind;

/// Of every slot `finalise` alone is drawn, whose start is the state of the last boundary.
MarketOptions drawn_at_the_end() {
    MarketOptions options;
    options.draw_everything = false;
    options.rounds = 1;
    options.claim_window = 200;
    options.challenges["bea"] = 1;
    return options;
}

std::vector<Game> games_about_mia(Market& market) {
    std::vector<Game> found;
    const auto job = market.job();
    const base::PublicKey mia = market.party("mia").node.public_key();
    for (const Game& game : job ? contracts::list_games(market.state(), job->id) : std::vector<Game>{}) {
        const auto slot = contracts::read_slot(market.state(), job->id, game.round, game.claim);
        if (slot && slot->miner == mia) found.push_back(game);
    }
    return found;
}

bool is_over(const std::vector<Game>& games) {
    return !games.empty() &&
           std::none_of(games.begin(), games.end(), [](const Game& game) { return game.is_open(); });
}

std::string lines_of(Market& market, const std::string& name) {
    std::string words = name + "\n";
    for (const auto& line : market.party(name).log.lines) words += line + "\n";
    return words;
}

/// Has bea call everybody who vouched for the slot's unit: each wins its game.
void check_called(Market& market, const Game& killer, const contracts::SlotRound& slot, UnitKind unit) {
    for (const base::PublicKey& verifier : slot.verifiers) {
        market.have_sign("bea", contracts::DisputeCall{.job = market.job()->id,
                                                       .game = killer.number,
                                                       .unit = unit,
                                                       .part = 0,
                                                       .verifier = verifier});
        market.turn();
    }
    market.turn_until([&] { return is_over(games_about_mia(market)); });
    INFO(lines_of(market, "vera") << lines_of(market, "viki") << lines_of(market, "vito"));
    std::size_t called = 0;
    for (const Game& game : games_about_mia(market)) {
        if (!game.called) continue;
        ++called;
        CHECK(game.unit == unit);
        CHECK_FALSE(game.is_open());
        CHECK_FALSE(game.claimant_lost);
    }
    CHECK(called == slot.verifiers.size());
    check_nobody_ended(market);
}

/// What a miner serves in place of its last boundary's state, of which it opens the true root.
struct FalseStart {
    const char* name;
    std::function<void(program::StateHead& head, std::vector<Bytes>& files)> change;
};

const FalseStart kFalseStarts[] = {
    {"an array of noise",
     [](program::StateHead& head, std::vector<Bytes>& files) {
         files[1][5] ^= 1;
         head.parts[0].blob = base::blob_id(files[1]);
     }},
    {"a head of another state",
     [](program::StateHead& head, std::vector<Bytes>&) { head.parts[0].root.bytes[0] ^= 1; }},
};

}  // namespace

TEST_CASE("who vouched for a slot whose start was served as noise keeps its bond when called") {
    for (const FalseStart& one : kFalseStarts) {
        INFO(one.name);
        Market market(drawn_at_the_end());
        market.start();
        market.party("mia").worker.falsify = [&](const frames::Message&, WorkerAnswered& answer) {
            const auto* boundary = std::get_if<frames::Boundary>(&answer.message);
            const std::uint32_t last = program::RoundPlan(market.spec()).last_boundary();
            if (boundary == nullptr || boundary->index != last || market.settled(0)) return;
            std::vector<Bytes> files = contents_of(answer.bulk);
            auto head = program::decode_state_head(files[0]).value();
            one.change(head, files);
            files[0] = program::encode_state_head(head);
            answer.bulk = files_of(files);
        };
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        const contracts::SlotRound slot = slots_of(market, "mia", 0).front();
        REQUIRE(slot.drawn_units == std::vector<std::uint32_t>{3});
        REQUIRE(slot.verdict == Reason::kPaid);
        // The miner's work is right. It gives its claim up to a friend, who calls its judges.
        const base::Hash256 job = market.job()->id;
        market.have_sign("bea", contracts::DisputeOpen{.job = job,
                                                       .round = 0,
                                                       .kind = contracts::ClaimKind::kSlot,
                                                       .number = slot.slot,
                                                       .unit = UnitKind::kUpdate,
                                                       .part = 0});
        market.turn();
        REQUIRE_FALSE(games_about_mia(market).empty());
        const Game given_up = games_about_mia(market).front();
        market.have_sign("mia", contracts::DisputeConcede{.job = job, .game = given_up.number});
        market.turn();
        REQUIRE(games_about_mia(market).front().killed_claim());
        check_called(market, given_up, slot, UnitKind::kUpdate);
    }
}

TEST_CASE(
    "who vouched for a right unit behind a false one, which was not drawn, keeps its bond when called") {
    using enum program::InnerState;
    for (const auto& [inner_state, unit] :
         {std::pair{kReset, UnitKind::kUpdate}, std::pair{kCarried, UnitKind::kUpdate},
          std::pair{kCarried, UnitKind::kCarried}}) {
        INFO("unit " << to_text(unit));
        MarketOptions options = drawn_at_the_end();
        options.inner_state = inner_state;
        worker::Drill drill{.kind = worker::DrillKind::kOperator, .segment = 1, .tensor = ""};
        drill.operator_index = 17;
        drill.index = 320;
        options.drills["mia"] = {{.round = 0, .drill = drill}};
        Market market(options);
        market.start();
        REQUIRE(market.turn_until([&] { return is_over(games_about_mia(market)); }));
        const Game killer = games_about_mia(market).front();
        REQUIRE(killer.claimant_lost);
        REQUIRE(killer.unit == UnitKind::kSegment);
        const contracts::SlotRound slot = market.slot(0, killer.claim);
        REQUIRE(slot.drawn_units == std::vector<std::uint32_t>{3});
        check_called(market, killer, slot, unit);
    }
}

TEST_CASE("who vouched for a unit whose start was served needs nothing of what its slot goes on with") {
    int called = 0;
    for (std::uint64_t luck = 0; luck < 8 && called < 2; ++luck) {
        const UnitKind unit = called == 0 ? UnitKind::kUpdate : UnitKind::kCarried;
        INFO("unit " << to_text(unit));
        MarketOptions options = drawn_at_the_end();
        options.luck = luck;
        options.rounds = 2;
        options.inner_state = program::InnerState::kCarried;
        worker::Drill drill{.kind = worker::DrillKind::kOperator, .segment = 1, .tensor = ""};
        drill.operator_index = 17;
        drill.index = 320;
        options.drills["mia"] = {{.round = 1, .drill = drill}};
        Market market(options);
        market.start();
        REQUIRE(market.turn_until([&] { return is_over(games_about_mia(market)); }));
        const Game killer = games_about_mia(market).front();
        const contracts::SlotRound slot = market.slot(1, killer.claim);
        if (slot.drawn_units != std::vector<std::uint32_t>{3}) continue;  // its panel has seen the false one
        REQUIRE(killer.claimant_lost);
        REQUIRE(killer.round == 1);
        const auto carried = contracts::carried_in(market.state(), market.job()->id, 1, slot.slot);
        REQUIRE_FALSE(carried.nothing());
        for (const auto& [name, party] : market.parties()) party->files->drop(carried.blob);
        check_called(market, killer, slot, unit);
        ++called;
    }
    CHECK(called == 2);
}

}  // namespace assay::node
