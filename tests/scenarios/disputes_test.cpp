// SPDX-License-Identifier: Apache-2.0
// Disputes between real processes: what a whole panel passes, one who was not drawn has forfeited.
#include "contracts/rules/dispute/tables.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::Game;
using contracts::GameEnd;
using contracts::LineKind;
using contracts::Reason;
using node::Misconduct;

namespace {

constexpr std::size_t kWatcher = 3;

ScenarioPlan disputed_plan() {
    ScenarioPlan plan = impatient_plan();
    plan.job = small_plan().job;
    plan.job.rounds = 3;
    plan.params.claim_window = 3 * plan.params.audit_seal_window;
    plan.miners[0].drills.push_back(
        must(node::parse_drill("round=1,segment=1,kind=operator,step=1,operator=17,index=320")).planned);
    plan.verifiers = 4;
    for (std::size_t place = 0; place < kWatcher; ++place)
        plan.verifier_misconducts[place] = Misconduct::kColludingPanel;
    plan.verifier_flags[kWatcher] = {"--watch", "--challenge", "1"};
    return plan;
}

bool says(const node::Participant& who, const std::string& words) {
    return node::log_tail(who.home, who.name, 2'000).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "a miner changes one number by one ulp in one operator of one step, the whole drawn panel passes it, and "
    "one bonded party that was not drawn has it forfeited by the ledger's own computation, and training goes "
    "on") {
    SmallNetwork network(disputed_plan());
    network.run();
    const contracts::Job job = network.job();
    const auto& cheat = network.net().miners[0];
    const auto& watcher = network.net().verifiers[kWatcher];
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(job.rounds_done == 3);
    // It was paid, until somebody looked.
    for (const Reason reason : network.verdicts(1, cheat)) CHECK(reason == Reason::kPaid);
    const auto games = contracts::list_games(network.state(), job.id);
    REQUIRE_FALSE(games.empty());
    const Game& game = games.front();
    CHECK(game.claimant == cheat.node);
    CHECK(game.challenger == watcher.node);
    CHECK(game.round == 1);
    CHECK(game.part == 1);
    CHECK(game.end == GameEnd::kJudged);
    CHECK(game.claimant_lost);
    CHECK(game.finding.reason == dispute::GameReason::kDiffers);
    CHECK((game.finding.claimed_low ^ game.finding.computed_low) == 1);
    CHECK(game.way.at.operator_index == 17);
    CHECK_FALSE(game.lost.is_zero());
    CHECK_FALSE(game.returned.is_zero());
    // Whoever was drawn for the unit vouched for it.
    const auto slot = contracts::read_slot(network.state(), job.id, game.round, game.claim);
    REQUIRE(slot.has_value());
    CHECK(games.size() == 1 + slot->verifiers.size());
    for (const Game& called : games) {
        if (called.number == game.number) continue;
        CHECK(called.called);
        CHECK(called.claimant_lost);
        CHECK_FALSE(called.lost.is_zero());
    }
    // Everybody else is paid in every round.
    for (std::size_t i = 1; i < network.net().miners.size(); ++i) {
        for (std::uint32_t round = 0; round < 3; ++round) {
            for (const Reason reason : network.verdicts(round, network.net().miners[i]))
                CHECK(reason == Reason::kPaid);
        }
    }
    CHECK(says(watcher, "I reject step 3 of segment 1"));
    CHECK(says(cheat, "I have lost"));
    network.check_books();
}

}  // namespace assay::tests
