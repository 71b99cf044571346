// SPDX-License-Identifier: Apache-2.0
// Miners that go and do not come back: their work is unpaid, nobody who stayed loses anything.
#include <signal.h>

#include "node/audit/run_record.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::EventKind;
using contracts::LineKind;
using contracts::Reason;
using contracts::RoundPhase;

namespace {

/// Two of a slot's eight segments are drawn, and `finalise`, so that whoever is gone was drawn for certain.
/// Verifiers have the time that replaying all slots whole takes, by the speed of this round's miners: they
/// seal in time also where the machine has much more to do than while the slots were trained. A longer window
/// would not do: claims would stay open three times as long behind the last round.
ScenarioPlan absence_plan(std::uint32_t rounds) {
    ScenarioPlan plan = impatient_plan();
    plan.job.rounds = rounds;
    plan.job.security.audit_threshold = UINT64_MAX / 4;
    plan.params.probation_rounds = 0;
    return plan;
}

}  // namespace

TEST_CASE("a miner gone before its commit is unpaid without forfeit and its slot is dealt again") {
    SmallNetwork network(absence_plan(3));
    const node::Participant& gone = network.net().miners[0];
    network.allow_death_of(gone.name);
    network.on_event([&](const node::Follower&, const contracts::Event& event) {
        if (event.kind == EventKind::kRoundStarted && event.round == 0) {
            must(network.network().signal(gone.name, SIGKILL));
        }
    });
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(network.verdicts(0, gone) == std::vector{Reason::kNoCommit});
    CHECK(network.paid_to(gone) == 0);
    const contracts::Stake stake = contracts::read_stake(network.state(), gone.node);
    CHECK(stake.bonded.is_zero());
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    for (const auto& who : network.net().verifiers) CHECK(network.lost_by(who) == 0);
    for (const std::uint32_t round : {1U, 2U}) {
        CHECK(network.verdicts(round, gone).empty());
        std::size_t paid = 0;
        for (const auto& line : network.lines(LineKind::kSlot)) {
            if (line.round == round && line.reason == Reason::kPaid) ++paid;
        }
        CHECK(paid == job.spec.slots);
    }
    network.check_books();
    CHECK(network.train_alone(node::run_record(network.state(), job)) == job.base_root);
}

TEST_CASE("a miner gone after the draw forfeits its bond and nobody else loses anything") {
    SmallNetwork network(absence_plan(2));
    const node::Participant& gone = network.net().miners[1];
    network.allow_death_of(gone.name);
    network.on_event([&](const node::Follower&, const contracts::Event& event) {
        // All seals are in; what is drawn is not known before the beacon's last link, nor revealed before it.
        if (is_phase(event, 0, RoundPhase::kBeacon)) must(network.network().signal(gone.name, SIGKILL));
    });
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(network.verdicts(0, gone) == std::vector{Reason::kSilentAfterDraw});
    CHECK(network.verdicts(1, gone).empty());
    CHECK(network.paid_to(gone) == 0);
    for (const auto& line : network.lines(LineKind::kSlot)) {
        if (line.node != gone.node) {
            CHECK(line.reason == Reason::kPaid);
            continue;
        }
        const auto slot = contracts::read_slot(network.state(), job.id, 0, line.slot);
        REQUIRE(slot.has_value());
        CHECK(slot->bond.units() > 0);
        CHECK(line.lost == slot->bond);
        CHECK(line.lost_to_buyer.units() > 0);
        CHECK(line.lost_to_buyer < line.lost);  // a part is always burned
    }
    for (const auto& who : network.net().miners) {
        if (who.node != gone.node) CHECK(network.lost_by(who) == 0);
    }
    for (const auto& who : network.net().verifiers) CHECK(network.lost_by(who) == 0);
    network.check_books();
    CHECK(network.train_alone(node::run_record(network.state(), job)) == job.base_root);
}

}  // namespace assay::tests
