// SPDX-License-Identifier: Apache-2.0
// A dispute as a row and in sentences: operator, tile, term, bits, ends and money.
#include "node/views/dispute_view.hpp"

#include <algorithm>

#include "contracts/program/program.hpp"
#include "contracts/program/round_plan.hpp"
#include "node/views/json.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace contracts::test;
using contracts::Game;
using contracts::GameEnd;
using contracts::GamePhase;

/// A game over segment 1 of slot 0 of a job that was played, as its records might have it.
struct DisputedJob {
    DisputedJob() {
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        id = env.post(small_job());
        env.hold_auction(id, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
        play_round(env, id);
        job = env.job(id);
        game.part = 1;
        game.claimant = env.person("m1").node_key();
        game.claimant_owner = env.person("m1").owner_key();
        game.challenger = env.person("v1").node_key();
        game.challenger_owner = env.person("v1").owner_key();
        game.phase = GamePhase::kEnded;
        game.end = GameEnd::kJudged;
        game.claimant_lost = true;
        game.ended_at = 70;
        game.finding = {.reason = dispute::GameReason::kDiffers,
                        .claimed_low = 0x3f1c0000,
                        .computed_low = 0x3f1d0000,
                        .witness_bytes = 1'234};
        game.lost = base::units(900);
        game.to_winner = base::units(500);
        game.to_buyer = base::units(100);
        game.returned = base::units(7);
    }
    /// Ends the way at a partial of a tile of an operator's first output.
    void point_at(const std::string& name, std::uint64_t tile, std::uint64_t partial) {
        const auto program = program::build_step_program(job.spec.model, job.spec.train, job.spec.profile);
        const auto found = std::find_if(program.operators.begin(), program.operators.end(),
                                        [&](const auto& one) { return one.name == name; });
        REQUIRE(found != program.operators.end());
        game.way.stage = dispute::WayStage::kWitness;
        game.way.at = {.segment = 1,
                       .step = program::RoundPlan(job.spec).steps(1).first,
                       .operator_index = static_cast<std::uint32_t>(found - program.operators.begin()),
                       .output = 0,
                       .tile = tile,
                       .partial = partial};
    }
    [[nodiscard]] DisputeRow row(const DisputeSources& sources = {}) const {
        return dispute_row(env.state(), job, game, sources);
    }
    [[nodiscard]] std::string said(const DisputeSources& sources = {}) const {
        std::string out;
        for (const std::string& sentence : sentences(row(sources))) out += sentence + "\n";
        return out;
    }
    Env env;
    base::Hash256 id;
    contracts::Job job;
    Game game;
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a dispute's row has its operator, gradient, tile and bits, and where the money went") {
    DisputedJob played;
    played.point_at("h.0.mlp.c_fc.weight.backward", 1, 0);
    const base::Hash256 transaction = base::hash("test/tx", {});
    const Json row = json_of(played.row({transaction, 12.5, 80}));
    CHECK(row.at("id") == played.id.hex() + "/0");
    CHECK(row.at("operator") == "h.0.mlp.c_fc dW");
    CHECK(row.at("tile") == Json::array({0, 1}));
    CHECK(row.at("slot") == 0);
    CHECK(row.at("segment") == 1);
    CHECK(row.at("step") == played.game.way.at.step);
    CHECK(row.at("claimed") == "0x3f1c0000");
    CHECK(row.at("computed") == "0x3f1d0000");
    CHECK(row.at("referee") == "differs");
    CHECK(row.at("referee_us") == 12.5);
    CHECK(row.at("witness_bytes") == 1'234);
    CHECK(row.at("loser") == played.game.claimant.hex());
    CHECK(row.at("burned") == "300");
    CHECK(row.at("transaction") == transaction.hex());
    const std::string said = played.said({transaction, 12.5, 80});
    CHECK(contains(said, "slot 0, round 0, segment 1, step "));
    CHECK(contains(said, ": `h.0.mlp.c_fc` dW tile (0,1)"));
    CHECK(contains(said, ": claimed 0x3f1c0000, the operands give 0x3f1d0000.\n"));
    CHECK(contains(said, "in transaction " + transaction.hex()));
    CHECK(contains(said, "to " + played.game.challenger_owner.brief() + ", the winner's owner"));
    CHECK(contains(said, " to the buyer; "));
    CHECK(contains(said, " of held pay went back to the job's escrow."));
    // A term of the norm's tree.
    played.point_at("norm", 0, 0);
    CHECK(json_of(played.row()).at("operator") == "norm norm");
    CHECK(json_of(played.row()).at("term") == 0);
    CHECK(contains(played.row().words, "tile (0,0), tree, term 0"));
}

TEST_CASE("every end of a dispute has a sentence, and nobody loses a closed one") {
    DisputedJob played;
    played.point_at("lm_head.forward", 0, 0);
    const std::string claimant = played.game.claimant.brief();
    const std::string challenger = played.game.challenger.brief();
    played.game.end = GameEnd::kSilent;
    CHECK(contains(played.said(), claimant + " let its clock run out, at height 70."));
    CHECK_FALSE(contains(played.said(), "claimed 0x"));
    played.game.end = GameEnd::kConceded;
    played.game.claimant_lost = false;
    CHECK(contains(played.said(), challenger + " conceded, at height 70."));
    CHECK(contains(played.said(), "The challenger " + challenger + " lost "));
    CHECK(contains(played.said(), "to " + played.game.claimant_owner.brief() + ", the winner's owner"));
    for (const GameEnd end : {GameEnd::kClosed, GameEnd::kVoid}) {
        played.game.end = end;
        CHECK(contains(played.said(), "nobody lost"));
        CHECK_FALSE(contains(played.said(), " lost 0"));
        CHECK(json_of(played.row()).at("loser").is_null());
    }
    played.game.end = GameEnd::kNone;
    played.game.phase = GamePhase::kRunning;
    played.game.due = 95;
    CHECK(
        contains(played.said({{}, {}, 80}), "the claimant " + claimant + " is to move, 15 heights are left"));
    played.game.way.posted.assign(3, {});
    CHECK(contains(played.said({{}, {}, 100}), "the challenger " + challenger + " is to move, 0 heights"));
    played.game.phase = GamePhase::kQueued;
    CHECK(contains(played.said(), "Waits until its claimant plays fewer games."));
}

TEST_CASE("a merge's dispute is about the round, and a clip's about a slot of it") {
    DisputedJob played;
    played.game.kind = contracts::ClaimKind::kMerge;
    played.game.part = 0;
    played.game.unit = dispute::UnitKind::kMerge;
    played.game.way.stage = dispute::WayStage::kWitness;
    const Json merge = json_of(played.row());
    CHECK(merge.at("slot").is_null());
    CHECK(merge.at("segment").is_null());
    CHECK(contains(merge.at("operator").get<std::string>(), "parameters "));
    CHECK(merge.at("term") == 0);
    CHECK(contains(played.said(), "over the merge, round 0"));
    // Its two slots are one term; the tile follows.
    played.game.way.array.partial = 1;
    CHECK(json_of(played.row()).at("term").is_null());
}

TEST_CASE("a round's disputes of a node are those that it plays, and those about its claims") {
    Env env([] {
        contracts::Params params = short_windows();
        params.claim_window = 40;
        return params;
    }());
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3", "v4"}) env.verifier(name);
    const base::Hash256 job = env.post(small_job());
    env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    play_round(env, job);
    env.send(env.person("v4"),
             contracts::DisputeOpen{job, 0, contracts::ClaimKind::kSlot, 0, dispute::UnitKind::kSegment, 0});
    const auto miner = contracts::read_slot(env.state(), job, 0, 0)->miner;
    const auto other = contracts::read_slot(env.state(), job, 0, 1)->miner;
    CHECK(games_of(env.state(), job, 0, miner).size() == 1);
    CHECK(games_of(env.state(), job, 0, env.person("v4").node_key()).size() == 1);
    CHECK(games_of(env.state(), job, 0, other).empty());
    CHECK(games_of(env.state(), job, 1, miner).empty());
}

}  // namespace assay::node
