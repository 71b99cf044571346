// SPDX-License-Identifier: Apache-2.0
// Parties that go and do not come back: their work is unpaid, nobody who stayed loses anything.
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

// Nobody waits long for who is gone, and one absence is enough to be dropped.
ScenarioPlan impatient_plan() {
    ScenarioPlan plan = slow_plan();
    plan.params.commit_window = 160 * kPatience;
    plan.params.beacon_window = 40 * kPatience;
    plan.params.reveal_window = 40 * kPatience;
    plan.params.audit_seal_window = 160 * kPatience;
    plan.params.audit_open_window = 40 * kPatience;
    plan.params.merge_seal_window = 160 * kPatience;
    plan.params.merge_open_window = 40 * kPatience;
    plan.params.max_missed = 1;
    return plan;
}

bool is_phase(const contracts::Event& event, std::uint32_t round, RoundPhase phase) {
    return event.kind == EventKind::kRoundPhase && event.round == round &&
           event.number == static_cast<std::uint64_t>(phase);
}

}  // namespace

TEST_CASE("a miner gone before its commit is unpaid without forfeit and its slot is dealt again") {
    ScenarioPlan plan = impatient_plan();
    plan.job.rounds = 3;
    SmallNetwork network(plan);
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
    ScenarioPlan plan = impatient_plan();
    plan.job.rounds = 2;
    SmallNetwork network(plan);
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
        CHECK(line.lost_to_verifiers.is_zero());  // nobody recomputed anything
    }
    for (const auto& who : network.net().miners) {
        if (who.node != gone.node) CHECK(network.lost_by(who) == 0);
    }
    for (const auto& who : network.net().verifiers) CHECK(network.lost_by(who) == 0);
    network.check_books();
    CHECK(network.train_alone(node::run_record(network.state(), job)) == job.base_root);
}

TEST_CASE("a verifier gone while it recomputes is replaced by a third and alone is unpaid") {
    ScenarioPlan plan = impatient_plan();
    plan.verifiers = 3;
    SmallNetwork network(plan);
    std::optional<base::PublicKey> gone;
    std::size_t thirds = 0;
    network.on_event([&](const node::Follower& ledger, const contracts::Event& event) {
        if (event.kind == EventKind::kThirdDrawn) ++thirds;
        if (!is_phase(event, 0, RoundPhase::kAuditSeal)) return;
        const auto slots = contracts::list_slots(ledger.state(), event.job, 0);
        gone = slots.front().verifiers.front();
        must(network.network().signal(network.participant(*gone).name, SIGKILL));
    });
    for (const auto& verifier : network.net().verifiers) network.allow_death_of(verifier.name);
    network.run();
    REQUIRE(gone.has_value());
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(thirds > 0);
    for (const auto& line : network.lines(LineKind::kSlot)) CHECK(line.reason == Reason::kPaid);
    std::size_t silent = 0;
    for (const auto& line : network.lines(LineKind::kAudit)) {
        CHECK(line.reason == (line.node == *gone ? Reason::kAuditSilent : Reason::kPaidAudit));
        if (line.node == *gone) ++silent;
    }
    CHECK(silent == thirds);
    CHECK(network.paid_to(network.participant(*gone)) == 0);
    for (const auto& line : network.lines(LineKind::kLink)) {
        CHECK(line.node == *gone);
        CHECK(line.reason == Reason::kLinkWithheld);
    }
    CHECK(network.lost_by(network.participant(*gone)) == network.net().plan.params.link_penalty.units());
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    for (const auto& who : network.net().verifiers) {
        if (who.node != *gone) CHECK(network.lost_by(who) == 0);
    }
    network.check_books();
    CHECK(network.train_alone(std::nullopt) == job.base_root);
}

TEST_CASE("with one of two verifiers gone the slots stay unresolved and nobody forfeits") {
    SmallNetwork network(impatient_plan());
    network.allow_death_of("verifier-2");
    network.on_event([&](const node::Follower&, const contracts::Event& event) {
        if (is_phase(event, 0, RoundPhase::kAuditSeal)) {
            must(network.network().signal("verifier-2", SIGKILL));
        }
    });
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kMergeUnresolved);
    CHECK(job.rounds_done == 0);
    const auto slots = network.lines(LineKind::kSlot);
    CHECK(slots.size() == job.spec.slots);
    for (const auto& line : slots) CHECK(line.reason == Reason::kUnresolved);
    for (const auto& line : network.lines(LineKind::kAudit)) {
        const bool stayed = line.node == network.net().verifiers[0].node;
        CHECK(line.reason == (stayed ? Reason::kAuditUndecided : Reason::kAuditSilent));
    }
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    for (const auto& who : network.net().verifiers) CHECK(network.lost_by(who) == 0);
    CHECK(job.spent.is_zero());
    CHECK(job.refunded == job.spec.market.budget);
    network.check_books();
}

}  // namespace assay::tests
