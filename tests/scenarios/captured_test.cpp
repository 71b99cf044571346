// SPDX-License-Identifier: Apache-2.0
// A captured panel's miner has every friend in disputes that the design names, and one honest party that
// was not drawn is enough. Beside it a claimant makes up all that it posts and opens.
#include <algorithm>

#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/dispute_books.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::Game;
using contracts::GameEnd;
using contracts::Reason;
using node::Misconduct;

namespace {

// Of the verifiers. Those before are the panel.
constexpr std::size_t kThrower = 3, kStaller = 4, kBystander = 5;
// Of the miners; the first has the panel.
constexpr std::size_t kCaptured = 0, kCrafter = 1;

node::PlannedDrill planted(const char* drill) { return must(node::parse_drill(drill)).planned; }

ScenarioPlan captured_plan() {
    ScenarioPlan plan = impatient_plan();
    plan.job = small_plan().job;
    plan.job.rounds = 2;
    // Before speeds are measured a player has three of them.
    plan.params.commit_window = 100 * kPatience;
    plan.params.audit_seal_window = 90 * kPatience;
    plan.params.claim_window = 3 * plan.params.audit_seal_window;
    plan.params.dispute_move_window = 60 * kPatience;
    plan.miners.push_back(honest_miner(1'300));
    plan.miners[kCaptured].drills.push_back(
        planted("round=0,segment=1,kind=operator,step=1,operator=17,index=320"));
    plan.miners[kCrafter].drills.push_back(planted("round=0,segment=0,kind=noise"));
    plan.miners[kCrafter].conducts = {Misconduct::kCraftedWitness};
    plan.verifiers = 6;
    for (std::size_t place = 0; place < kThrower; ++place)
        plan.verifier_misconducts[place] = Misconduct::kColludingPanel;
    plan.verifier_misconducts[kThrower] = Misconduct::kThrownDispute;
    plan.verifier_misconducts[kStaller] = Misconduct::kStakeExhaustion;
    plan.verifier_flags[kThrower] = plan.verifier_flags[kStaller] = {"--watch"};
    plan.verifier_flags[kBystander] = {"--watch", "--challenge", "1"};
    plan.drops_moves_of = kBystander;
    return plan;
}

}  // namespace

TEST_CASE(
    "a captured panel's miner whose friends throw a dispute and raise the bond, while the ledger node "
    "leaves out every other move against it, is forfeited by one honest party, and so is a miner that "
    "crafts all that it posts") {
    SmallNetwork network(captured_plan());
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    const auto& miners = network.net().miners;
    const auto& verifiers = network.net().verifiers;
    const DisputeBooks books(network);
    // Paid by its panel, until somebody who was not drawn looked.
    for (const Reason reason : network.verdicts(0, miners[kCaptured])) CHECK(reason == Reason::kPaid);

    const auto thrown = books.opened_by(verifiers[kThrower]);
    REQUIRE_FALSE(thrown.empty());
    for (const Game& game : thrown) {
        CHECK(game.claimant == miners[kCaptured].node);
        CHECK_FALSE(game.claimant_lost);
    }
    CHECK(books.lost_in_games(verifiers[kThrower]) > 0);
    const auto stalled = books.opened_by(verifiers[kStaller]);
    REQUIRE(stalled.size() >= 3);
    for (const Game& game : stalled) CHECK_FALSE(game.claimant_lost);
    const auto [least, most] = std::minmax_element(
        stalled.begin(), stalled.end(), [](const Game& a, const Game& b) { return a.bond < b.bond; });
    CHECK(most->bond.units() >= 2 * least->bond.units());

    std::size_t judged = 0;
    for (const Game& game : books.opened_by(verifiers[kBystander])) {
        INFO("dispute " << game.number << " ended " << contracts::to_text(game.end));
        if (game.claimant != miners[kCaptured].node || game.called) continue;
        CHECK(game.round == 0);
        CHECK(game.part == 1);
        CHECK(game.end == GameEnd::kJudged);
        CHECK(game.claimant_lost);
        CHECK(game.finding.reason == dispute::GameReason::kDiffers);
        CHECK_FALSE(game.lost.is_zero());
        CHECK_FALSE(game.returned.is_zero());
        ++judged;
    }
    CHECK(judged > 0);
    // Who vouched for it pays as well.
    std::size_t called = 0;
    for (const Game& game : books.opened_by(verifiers[kBystander])) {
        if (!game.called) continue;
        ++called;
        CHECK(game.claimant_lost);
    }
    CHECK(called > 0);
    CHECK(node::log_tail(network.net().sequencer.home, "node", 5'000).find("is left out (dispute_open)") !=
          std::string::npos);

    std::size_t crafted = 0;
    for (const Game& game : books.defended_by(miners[kCrafter])) {
        INFO("dispute " << game.number << " ended " << contracts::to_text(game.end));
        if (game.end == GameEnd::kClosed) continue;
        CHECK(game.end == GameEnd::kJudged);
        CHECK(game.claimant_lost);
        CHECK(game.finding.reason != dispute::GameReason::kAgrees);
        CHECK_FALSE(game.lost.is_zero());
        ++crafted;
    }
    CHECK(crafted == 1);
    CHECK(books.says(miners[kCrafter], "a witness of nothing in 262144 bytes"));

    books.check_harmless({miners[2], miners[3], verifiers[kBystander]});
    books.check_rounds_merged();
    network.check_books();
}

}  // namespace assay::tests
