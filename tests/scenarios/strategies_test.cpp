// SPDX-License-Identifier: Apache-2.0
// Every strategy beside the standard one, over a network of real processes: bought, trained, recomputed,
// paid, and trained again alone to the same root.
#include <signal.h>

#include <algorithm>
#include <optional>
#include <set>

#include "contracts/program/round_plan.hpp"
#include "node/audit/run_record.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"
#include "trainer/host/targets.hpp"

namespace assay::tests {

using contracts::EventKind;
using contracts::LineKind;
using contracts::Reason;

namespace {

/// Runs the job honestly; its books, its replay and its training alone must agree. The model's root.
base::Hash256 run_honestly(ScenarioPlan plan) {
    SmallNetwork network(std::move(plan));
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    for (const auto& line : network.lines(LineKind::kSlot)) CHECK(line.reason == Reason::kPaid);
    network.check_books();
    const auto replays = network.replay_everything();
    CHECK(replays.size() == std::size_t{job.spec.rounds} * job.spec.slots);
    for (const auto& replay : replays) {
        CHECK(replay.judgement == node::Judgement::kRight);
        CHECK(replay.count(node::UnitReplay::Comparison::kEqual) == program::RoundPlan(job.spec).units());
    }
    const auto record = node::run_record(network.state(), job);
    CHECK(network.train_alone(std::nullopt) == job.base_root);
    for (const std::string& target : trainer::machine_targets()) {
        INFO(target);
        CHECK(network.train_alone(record, target, 2) == job.base_root);
    }
    return job.base_root;
}

ScenarioPlan plan_of(program::Strategy strategy, program::InnerState inner_state) {
    ScenarioPlan plan = small_plan();
    plan.job.rounds = 3;
    plan.job.strategy = strategy;
    plan.job.inner_state = inner_state;
    return plan;
}

}  // namespace

TEST_CASE("every strategy trains over the network and alone to one root, each to its own") {
    using program::InnerState;
    using program::Strategy;
    std::set<base::Hash256> roots;
    for (const auto strategy : {Strategy::kDiloco, Strategy::kDilocoHalf}) {
        for (const auto inner_state : {InnerState::kReset, InnerState::kCarried}) {
            INFO("strategy " << static_cast<int>(strategy) << ", inner state "
                             << program::to_text(inner_state));
            CHECK(roots.insert(run_honestly(plan_of(strategy, inner_state))).second);
        }
    }
}

TEST_CASE("a cheat among slots that carry is found, and its slot goes on with nothing") {
    ScenarioPlan plan = plan_of(program::Strategy::kDilocoHalf, program::InnerState::kCarried);
    plan.miners[2].drills.push_back(
        must(node::parse_drill("round=0,segment=0,kind=ulp,tensor=h.1.mlp.c_fc.weight,index=300")).planned);
    SmallNetwork network(plan);
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    const node::Participant& cheat = network.net().miners[2];
    // In the first round everybody has one slot: later ones are dealt by the speeds that were measured.
    CHECK(network.verdicts(0, cheat) == std::vector{Reason::kPaidAccused});
    for (const auto& slot : contracts::list_slots(network.state(), job.id, 0)) {
        const bool cheated = slot.miner == cheat.node;
        CHECK(contracts::carried_in(network.state(), job.id, 1, slot.slot).nothing() == cheated);
    }
    network.check_books();
    const auto record = node::run_record(network.state(), job);
    CHECK(network.train_alone(record) == job.base_root);
}

TEST_CASE("a miner that leaves takes its slot's moments along, unless an auditor still serves them") {
    ScenarioPlan plan = impatient_plan();
    plan.job.rounds = 4;
    plan.job.inner_state = program::InnerState::kCarried;
    // Verifiers keep and serve what they recomputed; so few units are drawn, from the first round on. Who had
    // `finalise` fetched the moments, and serves them while its store has room: both ends are right here, and
    // each has a test without luck in market_carried_test.cpp.
    plan.params.probation_rounds = 0;
    plan.job.security.audit_threshold = UINT64_MAX / 8;
    const std::uint32_t last_chance = plan.job.rounds - 3;
    SmallNetwork network(plan);
    for (const node::Participant& miner : network.net().miners) network.allow_death_of(miner.name);
    std::optional<contracts::SlotRound> lost;  // nobody recomputed its moments but its miner
    std::uint32_t after = 0;
    network.on_event([&](const node::Follower& ledger, const contracts::Event& event) {
        if (event.kind != EventKind::kRoundStarted || event.round == 0 || lost) return;
        if (event.round > last_chance + 1) return;
        for (const auto& slot : contracts::list_slots(ledger.state(), event.job, event.round - 1)) {
            const auto& drawn = slot.drawn_units;
            const std::uint32_t last_segment = program::RoundPlan(plan.job).finalise() - 1;
            const bool kept = std::find(drawn.begin(), drawn.end(), last_segment) != drawn.end();
            if (slot.verdict != Reason::kPaid || kept) continue;
            lost = slot;
            after = event.round;
            must(network.network().signal(network.participant(slot.miner).name, SIGKILL));
            return;
        }
    });
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    REQUIRE(lost);
    CHECK_FALSE(contracts::carried_in(network.state(), job.id, after, lost->slot).nothing());
    const bool served =
        contracts::read_slot(network.state(), job.id, after, lost->slot)->verdict == Reason::kPaid;
    CHECK(contracts::carried_in(network.state(), job.id, after + 1, lost->slot).nothing() == !served);
    for (std::uint32_t round = 0; round < job.spec.rounds; ++round) {
        for (const auto& one : contracts::list_slots(network.state(), job.id, round)) {
            INFO("round " << round << ", slot " << one.slot);
            // Its own slots, and the one whose moments it took with it.
            const bool gone = round >= after && one.miner == lost->miner;
            const bool absent = gone || (!served && round == after && one.slot == lost->slot);
            CHECK(one.verdict == (absent ? Reason::kNoCommit : Reason::kPaid));
        }
    }
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    network.check_books();
    const auto record = node::run_record(network.state(), job);
    for (const node::RecordRound& round : record.rounds) {
        for (const node::AcceptedSlot& one : round.accepted) {
            INFO("round " << round.round << ", slot " << one.slot);
            CHECK(one.carried_in ==
                  contracts::carried_in(network.state(), job.id, round.round, one.slot).root);
        }
    }
    CHECK(network.train_alone(record) == job.base_root);
}

}  // namespace assay::tests
