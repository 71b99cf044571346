// SPDX-License-Identifier: Apache-2.0
// Games over claims: who may challenge what, whose turn it is, what silence, a lie and the truth cost whom.
#include <algorithm>
#include <limits>
#include <memory>

#include "contracts/arithmetic/update.hpp"
#include "contracts/dispute/commitments.hpp"
#include "contracts/dispute/end_referee.hpp"
#include "contracts/program/program.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/dispute_world.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

TEST_CASE("anybody with stake challenges any unit of an open claim, and nobody a claim of its own") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    w.env.refuse(Reason::kOwnClaim, w.env.person(miner), w.challenge(0));
    w.env.refuse(Reason::kNoSuchUnit, w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 2));
    w.env.refuse(Reason::kNoSuchUnit, w.env.person("v4"), w.challenge(0, UnitKind::kUpdate, 1));
    w.env.refuse(Reason::kNoSuchUnit, w.env.person("v4"), w.challenge(0, UnitKind::kCarried, 1));
    w.env.refuse(Reason::kNoSuchUnit, w.env.person("v4"), w.challenge(0, UnitKind::kMerge));
    DisputeOpen unknown = w.challenge(0);
    unknown.job = bytes_of("no job");
    w.env.refuse(Reason::kUnknownJob, w.env.person("v4"), unknown);
    DisputeOpen running = w.challenge(0);
    running.round = 1;  // its claims are open, and its round is not settled
    w.env.refuse(Reason::kWrongPhase, w.env.person("v4"), running);
    const std::uint64_t free = read_stake(w.env.state(), w.env.person("v4").node_key()).free.units();
    const std::uint32_t number = w.open("v4", 0);
    CHECK(w.game(number).bond == w.bond());
    CHECK(read_stake(w.env.state(), w.env.person("v4").node_key()).free.units() == free - w.bond().units());
    CHECK(read_claim(w.env.state(), w.claim(0))->challenges == 1);
}

TEST_CASE("a challenge costs twice as much as the one before it while that one is open") {
    DisputeWorld w;
    for (std::uint64_t i = 0; i < 4; ++i) {
        const std::uint32_t number = w.open(i % 2 == 0 ? "v4" : "m5", 0);
        CHECK(w.game(number).bond.units() == w.bond().units() << i);
    }
    CHECK(w.open("v4", 1) == 4);  // of another claim
    CHECK(w.game(4).bond == w.bond());
}

TEST_CASE("a claimant that is silent loses bond, pay and standing, and the challenger is paid its cost") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const Claim claim = *read_claim(w.env.state(), w.claim(0));
    const std::uint64_t winner = w.env.balance("v4");
    const std::uint64_t stake = w.env.stake("v4");
    const std::uint64_t losers = w.env.stake(miner);
    const Amount escrow = escrow_of(w.env.state(), w.env.job(w.job));
    const std::uint32_t number = w.open("v4", 0);
    w.let_clock_run_out(number);
    const Game game = w.game(number);
    CHECK(game.end == GameEnd::kSilent);
    CHECK(game.claimant_lost);
    CHECK(game.lost == claim.bond);
    // At most its cost, and never more than what of a bond may come back to anybody.
    const Amount returned =
        claim.bond.times(w.env.params().forfeit_buyer_ppm, kPartsPerMillion, base::Rounding::kDown).value();
    CHECK(game.to_winner == std::min(w.cost(), returned));
    CHECK(game.to_winner.plus(game.to_buyer) == returned);
    CHECK(w.env.balance("v4") == winner + game.to_winner.units());
    CHECK(w.env.stake("v4") == stake);
    CHECK(w.env.stake(miner) == losers - claim.bond.units());
    CHECK(escrow_of(w.env.state(), w.env.job(w.job)) >= escrow);
    CHECK(read_claim(w.env.state(), w.claim(0))->dead);
    CHECK(read_claim(w.env.state(), w.claim(0))->held.is_zero());
    const Job job = w.env.job(w.job);
    for (const RosterEntry& entry : job.roster) {
        if (entry.node == w.env.person(miner).node_key()) CHECK(entry.dropped);
    }
    w.env.refuse(Reason::kClaimDead, w.env.person("m5"), w.challenge(0));
}

TEST_CASE("a miner that concedes loses the bond and its standing, and stays on the job") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const PublicKey node = w.env.person(miner).node_key();
    const std::uint64_t losses = read_miner(w.env.state(), node)->losses;
    const std::uint32_t number = w.open("v4", 0);
    w.env.refuse(Reason::kNotYours, w.env.person("m5"), DisputeConcede{w.job, number});
    w.env.send(w.env.person(miner), DisputeConcede{w.job, number});
    CHECK(w.game(number).end == GameEnd::kConceded);
    CHECK(w.game(number).claimant_lost);
    const Job job = w.env.job(w.job);
    for (const RosterEntry& entry : job.roster) CHECK_FALSE(entry.dropped);
    CHECK(read_miner(w.env.state(), node)->losses == losses + 1);
    w.env.refuse(Reason::kWrongPhase, w.env.person(miner), DisputeConcede{w.job, number});
}

TEST_CASE("a silent challenger loses its bond, and the claim goes on") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint64_t claimants = w.env.balance(miner);
    const std::uint64_t challengers = w.env.stake("v4");
    const std::uint32_t number = w.open("v4", 0);
    w.post(miner, number);
    w.env.refuse(Reason::kNotYourTurn, w.env.person(miner), DisputePost{w.job, number, {bytes_of("x")}});
    w.let_clock_run_out(number);
    CHECK(w.game(number).end == GameEnd::kSilent);
    CHECK_FALSE(w.game(number).claimant_lost);
    CHECK(w.env.stake("v4") == challengers - w.bond().units());
    CHECK(w.env.balance(miner) == claimants + w.cost().units());
    const Claim claim = *read_claim(w.env.state(), w.claim(0));
    CHECK_FALSE(claim.dead);
    CHECK(claim.challenges == 0);
    CHECK_FALSE(claim.held.is_zero());
}

TEST_CASE(
    "the referee's word ends a game: a claimant that opens the truth is paid, a crafted witness loses") {
    for (const bool honest : {true, false}) {
        CAPTURE(honest);
        DisputeWorld w;
        const std::string miner = w.miner_of(0);
        const std::uint64_t challengers = w.env.stake("v4");
        const std::uint32_t number = w.open("v4", 0, UnitKind::kCarried);
        base::Bytes witness = w.true_witness();
        if (!honest) witness[40] ^= 1;
        w.env.refuse(Reason::kNotYours, w.env.person("v4"), DisputeProve{w.job, number, witness});
        w.env.send(w.env.person(miner), DisputeProve{w.job, number, witness});
        const Game game = w.game(number);
        CHECK(game.end == GameEnd::kJudged);
        CHECK(game.claimant_lost == !honest);
        CHECK(game.finding.witness_bytes == witness.size());
        CHECK(to_text(game.finding.reason) == (honest ? "agrees" : "not_opened"));
        CHECK(w.env.stake("v4") == challengers - (honest ? w.bond().units() : 0));
        CHECK(read_claim(w.env.state(), w.claim(0))->dead == !honest);
    }
}

TEST_CASE("a whole way down of hashes that nobody computed ends with a witness that opens nothing") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint32_t number = w.open("v4", 0);
    REQUIRE(w.game(number).way.stage == WayStage::kStates);
    w.env.refuse(Reason::kBadMove, w.env.person(miner), DisputePost{w.job, number, {bytes_of("one")}});
    w.env.refuse(Reason::kNotYours, w.env.person("v4"), DisputePost{w.job, number, {}});
    w.env.refuse(Reason::kNotYourTurn, w.env.person("v4"), DisputePick{w.job, number, {}});
    w.env.refuse(Reason::kBadMove, w.env.person(miner), DisputeProve{w.job, number, {}});
    w.env.refuse(Reason::kNoSuchGame, w.env.person(miner), DisputeProve{w.job, 7, {}});
    w.post(miner, number);
    CHECK(read_game_pieces(w.env.state(), w.job, number)->posted.size() == 2);
    w.env.refuse(Reason::kBadMove, w.env.person("v4"), DisputePick{w.job, number, {.index = 2, .end = {}}});
    w.pick("v4", number, 1);
    REQUIRE(w.game(number).way.stage == WayStage::kOutputs);
    CHECK(w.game(number).way.at.step == 1);
    w.post(miner, number);
    w.env.send(w.env.person("v4"), DisputePick{w.job, number, {.index = 0, .end = StepEnd::kLoss}});
    REQUIRE(w.game(number).way.stage == WayStage::kWitness);
    w.env.send(w.env.person(miner), DisputeProve{w.job, number, base::Bytes(64)});
    CHECK(w.game(number).end == GameEnd::kJudged);
    CHECK(w.game(number).claimant_lost);
    CHECK(w.game(number).moves == 5);
    CHECK_FALSE(read_game_pieces(w.env.state(), w.job, number).has_value());
}

TEST_CASE("each move gives its player a little time, and a clock that ran down stays down") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint32_t number = w.open("v4", 0);
    const Game start = w.game(number);
    CHECK(start.due == w.env.height() + start.claimant_clock + 1);
    w.env.advance_to(w.env.height() + 4);
    w.post(miner, number);
    CHECK(w.game(number).claimant_clock == start.claimant_clock - 4 + w.env.params().dispute_move_window);
    CHECK(w.game(number).challenger_clock == start.challenger_clock);
    CHECK(w.game(number).due == w.env.height() + start.challenger_clock + 1);
}

TEST_CASE("a claimant plays two games at once; the others wait, and so does the window") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    for (int i = 0; i < 3; ++i) w.open("v4", 0, UnitKind::kCarried);
    CHECK(w.game(0).phase == GamePhase::kRunning);
    CHECK(w.game(1).phase == GamePhase::kRunning);
    CHECK(w.game(2).phase == GamePhase::kQueued);
    CHECK(w.game(2).due == 0);
    w.env.refuse(Reason::kWrongPhase, w.env.person(miner), DisputeProve{w.job, 2, w.true_witness()});
    w.env.send(w.env.person(miner), DisputeProve{w.job, 1, w.true_witness()});
    CHECK(w.game(2).phase == GamePhase::kRunning);
    CHECK(w.game(2).due > w.env.height());
    w.env.send(w.env.person(miner), DisputeProve{w.job, 0, w.true_witness()});
    w.env.send(w.env.person(miner), DisputeProve{w.job, 2, w.true_witness()});
    // However many games it won, the claim is final only with its window.
    CHECK(read_claim(w.env.state(), w.claim(0)).has_value());
    CHECK_FALSE(w.game(0).claimant_lost);
}

TEST_CASE("who fills a claimant's queue holds up nobody else's first game by more than those that run") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    for (int i = 0; i < 5; ++i) w.open("v4", 0, UnitKind::kCarried);
    w.open("m5", 0, UnitKind::kCarried);  // the sixth, of another owner
    CHECK(w.game(2).phase == GamePhase::kQueued);
    w.env.send(w.env.person(miner), DisputeProve{w.job, 0, w.true_witness()});
    CHECK(w.game(5).phase == GamePhase::kRunning);
    CHECK(w.game(2).phase == GamePhase::kQueued);
    // Of one owner the games go on in their order.
    w.env.send(w.env.person(miner), DisputeProve{w.job, 1, w.true_witness()});
    CHECK(w.game(2).phase == GamePhase::kRunning);
    CHECK(w.game(3).phase == GamePhase::kQueued);
}

TEST_CASE("a claim stays open behind its window while a game about it is") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint64_t settled = read_round(w.env.state(), w.job, 0)->settled_at;
    w.env.advance_to(settled + kDisputeWindow - 1);
    const std::uint32_t number = w.open("v4", 0, UnitKind::kCarried);
    w.env.advance_to(settled + kDisputeWindow + 3);
    REQUIRE(w.game(number).is_open());
    REQUIRE(read_claim(w.env.state(), w.claim(0)).has_value());
    CHECK_FALSE(read_claim(w.env.state(), w.claim(1)).has_value());
    w.env.refuse(Reason::kWindowClosed, w.env.person("m5"), w.challenge(0));
    w.env.refuse(Reason::kWindowClosed, w.env.person("m5"), w.challenge(1));
    w.env.send(w.env.person(miner), DisputeProve{w.job, number, w.true_witness()});
    w.env.next_block();
    CHECK_FALSE(read_claim(w.env.state(), w.claim(0)).has_value());
}

TEST_CASE("when a claim dies, its other games end without a loser") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint64_t stake = w.env.stake("m5");
    w.open("v4", 0, UnitKind::kCarried);
    w.open("m5", 0, UnitKind::kCarried);
    w.open("m5", 0);
    w.env.send(w.env.person(miner), DisputeConcede{w.job, 0});
    for (const std::uint32_t number : {1U, 2U}) {
        CHECK(w.game(number).end == GameEnd::kClosed);
        CHECK(w.game(number).lost.is_zero());
    }
    CHECK(w.env.stake("m5") == stake);
    CHECK(read_claim(w.env.state(), w.claim(0))->challenges == 0);
}

TEST_CASE("a challenge costs something where the work costs nothing") {
    DisputeWorld w;
    const Job job = w.env.job(w.job);
    const Claim claim = *read_claim(w.env.state(), w.claim(0));
    CHECK(challenge_bond(w.env.params(), job, Amount{}, claim) == w.env.params().verifier_penalty);
}

TEST_CASE("where the job's own base is no number, nobody loses and the job ends") {
    const bool accused = GENERATE(false, true);
    DisputeWorld w(true, accused ? VerifierManner::kAccuses : VerifierManner::kColludes);
    const std::string miner = w.miner_of(0);
    const std::string who =
        accused ? w.env.by_node(read_claim(w.env.state(), w.claim(0))->accusations.front().verifier).name
                : "v4";
    const std::uint64_t stake = w.env.stake(who);
    // The claimant's update is made of nothing; what it opens of the base is what everybody started from.
    const std::uint32_t number = w.open(who, 0, UnitKind::kUpdate);
    const JobSpec spec = w.env.job(w.job).spec;
    const dispute::UnitClaim unit = read_game_pieces(w.env.state(), w.job, number)->unit;
    dispute::UnitFacts facts(spec, unit);
    REQUIRE(unit.states == std::vector{program::state_root(w.broken->roots(0)), program::state_root(w.end)});
    // The first tensor is a bias: one row.
    const std::vector<dispute::Cells> partials = {
        dispute::Cells::of({dispute::CellKind::kWhole, arithmetic::kTile})};
    const base::Bytes witness =
        dispute::make_witness(facts.array(dispute::ArrayUnit::kUpdate), dispute::ArrayPosition{}, *w.broken,
                              partials, dispute::StoredTree());
    w.env.edit<Game>(game_key(w.job, number), [&](Game& game) {
        game.way.stage = WayStage::kWitness;
        game.way.picked = dispute::tile_hash(partials[0], arithmetic::kTile);
    });
    w.env.send(w.env.person(miner), DisputeProve{w.job, number, witness});
    CHECK(to_text(w.game(number).finding.reason) == "not_finite");
    CHECK(w.game(number).end == GameEnd::kVoid);
    CHECK(w.game(number).lost.is_zero());
    CHECK(w.game(number).accuses == accused);
    CHECK(w.env.stake(who) == stake);
    play_round(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kJobVoid);
    CHECK(w.env.job(w.job).phase == JobPhase::kClosing);
    while (read_job_progress(w.env.state(), w.job)) w.env.next_block();
}

TEST_CASE("a merge is a claim like any other: its verifier plays with its bond for the job") {
    DisputeWorld w;
    std::string merger;
    for (const auto& [id, claim] : list_claims(w.env.state(), w.job)) {
        if (id.kind != ClaimKind::kMerge || id.round != 0) continue;
        const DisputeOpen challenge{w.job, 0, ClaimKind::kMerge, id.number, UnitKind::kMerge, 0};
        w.env.send(w.env.person("v4"), challenge);
        merger = w.env.by_node(claim.node).name;
    }
    REQUIRE_FALSE(merger.empty());
    CHECK(w.game(0).way.stage == WayStage::kArrays);
    w.let_clock_run_out(0);
    CHECK(w.game(0).claimant_lost);
    CHECK_FALSE(w.game(0).lost.is_zero());
}

TEST_CASE("a job whose end is decided waits for the games about its claims") {
    DisputeWorld w;
    play_round(w.env, w.job);
    play_round(w.env, w.job);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kClosing);
    const std::uint64_t settled = read_round(w.env.state(), w.job, 2)->settled_at;
    w.env.advance_to(settled + kDisputeWindow - 1);
    const DisputeOpen last{w.job, 2, ClaimKind::kSlot, 0, UnitKind::kSegment, 0};
    w.env.send(w.env.person("v4"), last);
    w.env.advance_to(settled + kDisputeWindow + 2);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kClosing);
    const auto number = static_cast<std::uint32_t>(list_games(w.env.state(), w.job).size() - 1);
    w.env.send(w.env.by_node(w.game(number).claimant), DisputeConcede{w.job, number});
    w.env.advance_to(w.env.height() + w.env.params().dispute_move_window + 1);
    CHECK_FALSE(read_job(w.env.state(), w.job).has_value());
}

}  // namespace assay::contracts::test
