// SPDX-License-Identifier: Apache-2.0
// Who withholds what others need, or says what it did not compute: each as a process, and each worse off in
// the settlement than if it had been honest.
#include <signal.h>

#include "contracts/rules/job/costs.hpp"
#include "node/audit/run_record.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::EventKind;
using contracts::LineKind;
using contracts::Reason;
using contracts::RoundPhase;

namespace {

/// Units that verifiers computed of a slot, as they opened them; those of replays from the base alone.
std::size_t replays_of(const SmallNetwork& network, const node::Participant& miner) {
    std::size_t replays = 0;
    const contracts::Job job = network.job();
    for (std::uint32_t round = 0; round < job.spec.rounds; ++round) {
        for (const auto& posting : contracts::list_audits(network.state(), job.id, round)) {
            for (const auto& claim : posting.claims) {
                const auto slot = contracts::read_slot(network.state(), job.id, round, claim.slot);
                if (slot && slot->miner == miner.node && claim.replayed) ++replays;
            }
        }
    }
    return replays;
}

std::uint64_t count(const SmallNetwork& network, LineKind kind, Reason reason, const base::PublicKey& node) {
    std::uint64_t found = 0;
    for (const auto& line : network.lines(kind)) {
        if (line.node == node && line.reason == reason) ++found;
    }
    return found;
}

}  // namespace

TEST_CASE("who withholds starts is replayed from the base: it is paid less, and cheating is found") {
    constexpr std::size_t kHonest = 0, kWithholding = 1, kLazy = 2;
    ScenarioPlan plan = slow_plan();
    // Nobody is a newcomer, and half of all units are drawn: most runs begin behind the base.
    plan.params.probation_rounds = 0;
    plan.job.security.audit_threshold = UINT64_MAX / 2;
    plan.job.rounds = 3;
    plan.miners[kHonest].outward = true;  // what it owes is asked for over calls of its own
    plan.miners[kWithholding].conducts = {node::Misconduct::kWithheldStart};
    plan.miners[kLazy].conducts = {node::Misconduct::kWithheldStart};
    plan.miners[kLazy].drills.push_back(must(node::parse_drill("segment=1,kind=lazy")).planned);
    SmallNetwork network(plan);
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    const node::Participant& honest = network.net().miners[kHonest];
    const node::Participant& withholding = network.net().miners[kWithholding];
    const node::Participant& lazy = network.net().miners[kLazy];
    CHECK(replays_of(network, honest) == 0);
    CHECK(replays_of(network, withholding) > 0);
    // It keeps its bond and is paid what the replays leave: less for each slot than who serves.
    CHECK(network.lost_by(withholding) == 0);
    for (const auto& line : network.lines(LineKind::kSlot)) {
        if (line.node == lazy.node) continue;
        const auto slot = contracts::read_slot(network.state(), job.id, line.round, line.slot);
        REQUIRE(slot.has_value());
        const auto whole = contracts::slot_pay(job.auction.clearing_price, job.slot_work);
        REQUIRE(whole.has_value());
        INFO("round " << line.round << " slot " << line.slot << " paid " << line.paid.units() << " of "
                      << whole->units());
        CHECK(line.paid <= *whole);
        if (line.node == honest.node) CHECK(line.reason == Reason::kPaid);
    }
    const auto slots_of = [&](const node::Participant& who) {
        return count(network, LineKind::kSlot, Reason::kPaid, who.node);
    };
    REQUIRE(slots_of(withholding) > 0);
    CHECK(network.paid_to(withholding) * slots_of(honest) < network.paid_to(honest) * slots_of(withholding));
    // Bytes that nobody is served hide nothing.
    CHECK(count(network, LineKind::kSlot, Reason::kMismatch, lazy.node) == 1);
    CHECK(network.lost_by(lazy) > network.paid_to(lazy));
    for (const auto& who : network.net().verifiers) {
        CHECK(network.lost_by(who) == 0);
        CHECK(network.paid_to(who) > 0);
    }
    network.check_books();
    CHECK(network.train_alone(node::run_record(network.state(), job)) == job.base_root);
}

TEST_CASE("a verifier that copies and one that withholds its link pay for it, and nobody else does") {
    ScenarioPlan plan = small_plan();
    plan.verifiers = 4;
    plan.verifier_misconducts = {{3, node::Misconduct::kCopy}};
    plan.params.beacon_window = 20 * kPatience;
    plan.job.rounds = 4;
    SmallNetwork network(plan);
    const node::Participant& withholding = network.net().verifiers[0];
    const node::Participant& copying = network.net().verifiers[3];
    network.on_event([&](const node::Follower&, const contracts::Event& event) {
        // While miners train a verifier has nothing to do: it sleeps from then on until its link is missed.
        const bool rounds_begin = event.kind == EventKind::kJobPhase &&
                                  event.number == static_cast<std::uint64_t>(contracts::JobPhase::kRounds);
        if (rounds_begin) must(network.network().signal(withholding.name, SIGSTOP));
        if (event.kind == EventKind::kLost && event.reason == Reason::kLinkWithheld)
            must(network.network().signal(withholding.name, SIGCONT));
        if (event.kind == EventKind::kBeaconDrawn && event.round == 0)
            must(network.network().signal(withholding.name, SIGCONT));
    });
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    const auto bond = contracts::link_bond(network.net().plan.params, job.spec, job.slot_work);
    REQUIRE(bond.has_value());
    CHECK(count(network, LineKind::kLink, Reason::kLinkWithheld, withholding.node) == 1);
    CHECK(network.lost_by(withholding) == bond->units());
    // The round in whose beacon it had no part drew it for nothing; the link cost more than all its audits
    // pay.
    CHECK(network.lost_by(withholding) > network.paid_to(withholding));
    // What a verifier can copy before it seals is no end of a unit: every pair that it was in disagreed.
    std::uint64_t wrong = 0;
    for (const auto& line : network.lines(LineKind::kAudit)) {
        if (line.node == copying.node && line.reason != Reason::kPaidAudit) ++wrong;
    }
    CHECK(wrong > 0);
    CHECK(network.lost_by(copying) > network.paid_to(copying));
    for (const auto& who : network.net().miners) {
        CHECK(network.lost_by(who) == 0);
        CHECK(network.paid_to(who) > 0);
    }
    for (const std::size_t honest : {1U, 2U}) CHECK(network.lost_by(network.net().verifiers[honest]) == 0);
    network.check_books();
    CHECK(network.train_alone(std::nullopt) == job.base_root);
}

TEST_CASE("a buyer that serves no verifier its data gets no audit, no work and no bond") {
    ScenarioPlan plan = small_plan();
    SmallNetwork network(plan);
    bool verifiers_wait = false;
    const auto tell_verifiers = [&](int signal) {
        for (const auto& who : network.net().verifiers) must(network.network().signal(who.name, signal));
    };
    network.on_event([&](const node::Follower& ledger, const contracts::Event& event) {
        // The verifiers sleep from the time they have staked until the buyer serves nobody any more.
        if (!verifiers_wait && event.kind != EventKind::kJobSubmitted) {
            for (const auto& who : network.net().verifiers) {
                if (contracts::read_stake(ledger.state(), who.node).free.is_zero()) return;
            }
            verifiers_wait = true;
            tell_verifiers(SIGSTOP);
        }
        const bool asks_are_sealed =
            event.kind == EventKind::kJobPhase &&
            event.number == static_cast<std::uint64_t>(contracts::JobPhase::kAskReveal);
        if (asks_are_sealed) {  // miners have the data by then
            must(network.network().signal("buyer", SIGSTOP));
            tell_verifiers(SIGCONT);
        }
        if (event.kind == EventKind::kJobEnded) must(network.network().signal("buyer", SIGCONT));
    });
    network.run();
    REQUIRE(verifiers_wait);
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kTooFewVerifiers);
    CHECK(job.rounds_done == 0);
    CHECK(job.verifiers.empty());
    CHECK(job.spent.is_zero());
    for (const auto* group : {&network.net().miners, &network.net().verifiers}) {
        for (const auto& who : *group) {
            CHECK(network.lost_by(who) == 0);
            CHECK(contracts::read_stake(network.state(), who.node).bonded.is_zero());
        }
    }
    network.check_books();
}

}  // namespace assay::tests
