// SPDX-License-Identifier: Apache-2.0
// Disputes about claims that are right: who opens them pays, who is right loses nothing, and rounds go on.
#include <algorithm>

#include "tests/scenarios/dispute_books.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::Game;
using contracts::GameEnd;
using contracts::Reason;
using node::Misconduct;

namespace {

// Of the verifiers. Those before are an honest panel.
constexpr std::size_t kPanel = 3, kFriend = 3, kGriefer = 4, kDelayer = 5;
constexpr std::size_t kThrowing = 0;  ///< of the miners

ScenarioPlan window_plan() {
    ScenarioPlan plan = impatient_plan();
    plan.job = small_plan().job;
    // Before speeds are measured a player has three of them.
    plan.params.commit_window = 100 * kPatience;
    plan.params.audit_seal_window = 90 * kPatience;
    plan.params.claim_window = 3 * plan.params.audit_seal_window;
    plan.params.dispute_move_window = 60 * kPatience;
    return plan;
}

ScenarioPlan quarrel_plan() {
    ScenarioPlan plan = window_plan();
    plan.job.rounds = 2;
    plan.miners[kThrowing].conducts = {Misconduct::kThrownClaim};
    plan.verifiers = 6;
    plan.verifier_misconducts = {{kFriend, Misconduct::kThrownDispute},
                                 {kGriefer, Misconduct::kGriefingChallenger},
                                 {kDelayer, Misconduct::kDisputeDelay}};
    for (const std::size_t place : {kFriend, kGriefer, kDelayer}) plan.verifier_flags[place] = {"--watch"};
    return plan;
}

/// Whether a later round was settled while one of the games was open.
bool rounds_went_on(const SmallNetwork& network, const std::vector<Game>& games) {
    const contracts::Job job = network.job();
    return std::any_of(games.begin(), games.end(), [&](const Game& game) {
        if (game.round + 1 >= job.spec.rounds) return false;
        const auto next = contracts::read_round_progress(network.state(), job.id, game.round + 1);
        return next && next->settled_at > game.opened_at && next->settled_at < game.ended_at;
    });
}

}  // namespace

TEST_CASE(
    "who challenges right claims at random, challenges one miner four times at once, or wins a claim "
    "that its friend concedes and calls who vouched, pays for it, and no round waits") {
    SmallNetwork network(quarrel_plan());
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    const auto& miners = network.net().miners;
    const auto& verifiers = network.net().verifiers;
    const DisputeBooks books(network);

    bool to_the_end = false;
    for (const std::size_t cheat : {kGriefer, kDelayer}) {
        INFO(verifiers[cheat].name);
        const auto games = books.opened_by(verifiers[cheat]);
        REQUIRE_FALSE(games.empty());
        for (const Game& game : games) {
            INFO("dispute " << game.number << " ended " << contracts::to_text(game.end));
            CHECK(game.claimant != miners[kThrowing].node);
            CHECK_FALSE(game.claimant_lost);
            CHECK(game.lost == game.bond);
            CHECK_FALSE(game.lost.is_zero());
            to_the_end = to_the_end || game.end == GameEnd::kJudged;
        }
        CHECK(books.lost_in_games(verifiers[cheat]) > 0);
    }
    CHECK(to_the_end);  // a witness was opened, and the ledger computed that it is right
    const auto delaying = books.opened_by(verifiers[kDelayer]);
    CHECK(delaying.size() >= 4);
    CHECK(rounds_went_on(network, delaying));

    std::size_t conceded = 0;
    std::size_t called = 0;
    for (const Game& game : books.opened_by(verifiers[kFriend])) {
        INFO("dispute " << game.number << " ended " << contracts::to_text(game.end));
        if (game.called) {
            CHECK_FALSE(game.claimant_lost);
            ++called;
            continue;
        }
        CHECK(game.claimant == miners[kThrowing].node);
        CHECK(game.end == GameEnd::kConceded);
        CHECK(game.claimant_lost);
        CHECK_FALSE(game.lost.is_zero());
        ++conceded;
    }
    CHECK(conceded > 0);
    CHECK(called > 0);
    CHECK(books.lost_in_games(miners[kThrowing]) > 0);

    std::vector<node::Participant> honest(verifiers.begin(), verifiers.begin() + kPanel);
    honest.insert(honest.end(), {miners[1], miners[2]});
    books.check_harmless(honest);
    books.check_rounds_merged();
    books.check_model();
    network.check_books();
}

TEST_CASE("a whole panel that accuses honest miners opens no game, loses what it staked, and they are paid") {
    ScenarioPlan plan = window_plan();
    plan.job.rounds = 1;
    plan.verifiers = 3;
    for (std::size_t place = 0; place < plan.verifiers; ++place)
        plan.verifier_misconducts[place] = Misconduct::kRubberStamp;
    SmallNetwork network(plan);
    network.run();
    CHECK(network.job().end_reason == Reason::kJobComplete);
    const DisputeBooks books(network);
    const auto& miners = network.net().miners;
    for (const auto& miner : miners) {
        INFO(miner.name);
        for (const Reason reason : network.verdicts(0, miner)) CHECK(reason == Reason::kPaidAccused);
    }
    REQUIRE(books.games().size() >= miners.size());
    for (const Game& game : books.games()) {
        INFO("dispute " << game.number << " ended " << contracts::to_text(game.end));
        CHECK(game.accuses);
        CHECK_FALSE(game.claimant_lost);
    }
    books.check_harmless(miners);
    std::uint64_t to_buyer = 0;
    for (const Game& game : books.games()) {
        CHECK(game.lost.units() >= game.to_buyer.units() + game.to_winner.units());
        CHECK_FALSE(game.lost.is_zero());
        to_buyer += game.to_buyer.units();
    }
    CHECK(to_buyer > 0);  // who paid for updates that were kept out
    for (const auto& miner : miners) {
        const auto record = contracts::read_miner(network.state(), miner.node);
        REQUIRE(record.has_value());
        CHECK_FALSE(record->earned.is_zero());
        CHECK(record->forfeited.is_zero());
    }
    network.check_books();
}

}  // namespace assay::tests
