// SPDX-License-Identifier: Apache-2.0
// Verifiers that go and do not come back: they alone are unpaid and pay for it, nobody who stayed loses
// anything.
#include <signal.h>

#include <algorithm>

#include "contracts/rules/job/costs.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::EventKind;
using contracts::LineKind;
using contracts::Reason;
using contracts::RoundPhase;

namespace {

/// What the job's rule takes of one that locked so much, line by line.
void check_silences(const SmallNetwork& network, const base::PublicKey& gone, base::Amount locked) {
    const contracts::Job job = network.job();
    const auto each =
        contracts::accusation_stake(network.net().plan.params, job.auction.clearing_price, job.slot_work)
            .value();
    std::uint64_t left = locked.units();
    for (const auto& line : network.lines(LineKind::kAudit)) {
        const std::uint64_t due = line.node == gone ? std::min(each.units(), left) : 0;
        CHECK(line.lost.units() == due);
        CHECK(line.lost_burned == line.lost);
        left -= due;
    }
}

base::Amount locked_by(const contracts::Job& job, const base::PublicKey& node) {
    for (const auto& verifier : job.verifiers)
        if (verifier.node == node) return verifier.bond;
    return {};
}

}  // namespace

TEST_CASE("a verifier gone while it recomputes is replaced where it was drawn alone, and alone pays for it") {
    ScenarioPlan plan = impatient_plan();
    plan.verifiers = 3;
    plan.slots = 9;
    SmallNetwork network(plan);
    std::optional<base::PublicKey> gone;
    base::Amount locked;
    std::size_t thirds = 0;
    std::size_t alone = 0;
    network.on_event([&](const node::Follower& ledger, const contracts::Event& event) {
        if (event.kind == EventKind::kRedrawn) ++thirds;
        if (!is_phase(event, 0, RoundPhase::kAuditSeal)) return;
        // One that is drawn alone, if any is.
        auto slots = contracts::list_slots(ledger.state(), event.job, 0);
        std::sort(slots.begin(), slots.end(),
                  [](const auto& a, const auto& b) { return a.verifiers.size() < b.verifiers.size(); });
        gone = slots.front().verifiers.front();
        locked = locked_by(*contracts::read_job(ledger.state(), event.job), *gone);
        for (const auto& slot : slots) alone += slot.verifiers == std::vector{*gone} ? 1U : 0U;
        must(network.network().signal(network.participant(*gone).name, SIGKILL));
    });
    for (const auto& verifier : network.net().verifiers) network.allow_death_of(verifier.name);
    network.run();
    REQUIRE(gone.has_value());
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(thirds == alone);
    for (const auto& line : network.lines(LineKind::kSlot)) CHECK(line.reason == Reason::kPaid);
    std::size_t silent = 0;
    for (const auto& line : network.lines(LineKind::kAudit)) {
        CHECK(line.reason == (line.node == *gone ? Reason::kAuditSilent : Reason::kPaidAudit));
        if (line.node == *gone) ++silent;
    }
    CHECK(silent > 0);
    CHECK(silent >= alone);
    CHECK(network.paid_to(network.participant(*gone)) == 0);
    for (const auto& line : network.lines(LineKind::kLink)) {
        CHECK(line.node == *gone);
        CHECK(line.reason == Reason::kLinkWithheld);
    }
    const auto link = contracts::link_bond(network.net().plan.params, job.spec, job.slot_work);
    std::uint64_t silence = 0;
    for (const auto& line : network.lines(LineKind::kAudit)) silence += line.lost.units();
    CHECK(silence > 0);
    CHECK(network.lost_by(network.participant(*gone)) == link.value().units() + silence);
    check_silences(network, *gone, locked);
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    for (const auto& who : network.net().verifiers) {
        if (who.node != *gone) CHECK(network.lost_by(who) == 0);
    }
    network.check_books();
    CHECK(network.train_alone(std::nullopt) == job.base_root);
}

TEST_CASE(
    "with one of two verifiers gone no more than half of the stake stores: no miner is paid or forfeits") {
    SmallNetwork network(impatient_plan());
    network.allow_death_of("verifier-2");
    base::Amount locked;
    network.on_event([&](const node::Follower& ledger, const contracts::Event& event) {
        if (is_phase(event, 0, RoundPhase::kAuditSeal)) {
            locked =
                locked_by(*contracts::read_job(ledger.state(), event.job), network.net().verifiers[1].node);
            must(network.network().signal("verifier-2", SIGKILL));
        }
    });
    network.run();
    const contracts::Job job = network.job();
    // Who posted nothing is dropped, and one verifier is no panel.
    CHECK(job.end_reason == Reason::kTooFewVerifiers);
    CHECK(job.rounds_done == 0);
    const auto slots = network.lines(LineKind::kSlot);
    CHECK(slots.size() == job.spec.slots);
    for (const auto& line : slots) CHECK(line.reason == Reason::kNotStored);
    for (const auto& line : network.lines(LineKind::kAudit)) {
        const bool stayed = line.node == network.net().verifiers[0].node;
        CHECK(line.reason == (stayed ? Reason::kPaidAudit : Reason::kAuditSilent));
    }
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    CHECK(network.lost_by(network.net().verifiers[0]) == 0);
    check_silences(network, network.net().verifiers[1].node, locked);
    CHECK(job.spent.is_zero());
    CHECK(job.refunded == job.spec.market.budget);
    network.check_books();
}

}  // namespace assay::tests
