// SPDX-License-Identifier: Apache-2.0
// Who withholds what others need, or says what it did not compute: each as a process, and each worse off in
// the settlement than if it had been honest.
#include "contracts/rules/apply.hpp"
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

/// How often this verifier opened that it had to replay a slot of the miner's.
std::size_t replays_of(const SmallNetwork& network, const node::Participant& miner,
                       const node::Participant& verifier) {
    std::size_t replays = 0;
    const contracts::Job job = network.job();
    for (std::uint32_t round = 0; round < job.spec.rounds; ++round) {
        for (const auto& posting : contracts::list_audits(network.state(), job.id, round)) {
            if (posting.verifier != verifier.node) continue;
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

/// Of the owner, as the chain began.
std::optional<base::Amount> purse_of(const SmallNetwork& network, const base::PublicKey& owner) {
    const auto config = base::decode<contracts::GenesisConfig>(network.net().genesis.rules);
    if (!config.ok()) return std::nullopt;
    for (const auto& [key, balance] : config->balances)
        if (key == owner) return balance;
    return std::nullopt;
}

}  // namespace

TEST_CASE(
    "who withholds starts is replayed from the base: it is paid less, and cheating is found; who says so "
    "falsely takes nothing from a slot") {
    constexpr std::size_t kHonest = 0, kWithholding = 1, kLazy = 2;
    constexpr std::size_t kFalseReplayer = 2;  ///< of the verifiers; the others are honest
    ScenarioPlan plan = slow_plan();
    // Nobody is a newcomer, and half of all units are drawn: most runs begin behind the base.
    plan.params.probation_rounds = 0;
    plan.job.security.audit_threshold = UINT64_MAX / 2;
    // A quarter of the window goes by before a start counts as not served; the slots are replayed in what is
    // left.
    plan.params.audit_seal_window = 240 * kPatience;
    plan.params.claim_window = 3 * plan.params.audit_seal_window;
    plan.job.rounds = 3;
    plan.slots = 6;
    plan.verifiers = 3;
    // Two of three could take an honest slot's pay: docs/security.md.
    plan.verifier_misconducts = {{kFalseReplayer, node::Misconduct::kFalseReplay}};
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
    const auto& verifiers = network.net().verifiers;
    for (const std::size_t place : {0U, 1U}) CHECK(replays_of(network, honest, verifiers[place]) == 0);
    std::size_t replays = 0;
    std::size_t false_replays = 0;
    for (const auto& who : verifiers) {
        replays += replays_of(network, withholding, who);
        false_replays += replays_of(network, honest, who);
    }
    CHECK(replays > 0);
    CHECK(false_replays > 0);
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
        if (line.node != honest.node) continue;
        CHECK(line.reason == Reason::kPaid);
        CHECK(line.paid == *whole);
        CHECK(line.replays.is_zero());
    }
    const auto slots_of = [&](const node::Participant& who) {
        return count(network, LineKind::kSlot, Reason::kPaid, who.node);
    };
    REQUIRE(slots_of(withholding) > 0);
    CHECK(network.paid_to(withholding) * slots_of(honest) < network.paid_to(honest) * slots_of(withholding));
    // Bytes that nobody is served hide nothing.
    CHECK(count(network, LineKind::kSlot, Reason::kPaidAccused, lazy.node) > 0);
    CHECK(network.lost_by(lazy) > network.paid_to(lazy));
    for (const auto& who : network.net().verifiers) CHECK(network.lost_by(who) == 0);
    network.check_books();
    CHECK(network.train_alone(node::run_record(network.state(), job)) == job.base_root);
}

TEST_CASE("a verifier that copies and one that withholds its link pay for it, and nobody else does") {
    ScenarioPlan plan = small_plan();
    plan.verifiers = 4;
    plan.verifier_misconducts = {{0, node::Misconduct::kLinkWithholding}, {3, node::Misconduct::kCopy}};
    plan.params.beacon_window = 20 * kPatience;
    // Both honest verifiers have to enlist in it: once the copying one and the withholding one are dropped,
    // the job goes on with no owner to spare. On a busy machine four verifiers take longer to start than the
    // 40 blocks of a small network.
    plan.params.ask_commit_window = 100 * kPatience;
    plan.job.rounds = 4;
    SmallNetwork network(plan);
    const node::Participant& withholding = network.net().verifiers[0];
    const node::Participant& copying = network.net().verifiers[3];
    network.run();
    const contracts::Job job = network.job();
    // Where the beacon draws the copying one for every slot of two rounds in a row, nothing is left to merge,
    // and the job ends there: about one run in twelve. What follows holds either way.
    CHECK((job.end_reason == Reason::kJobComplete || job.end_reason == Reason::kMergeUnresolved));
    const auto bond = contracts::link_bond(network.net().plan.params, job.spec, job.slot_work);
    REQUIRE(bond.has_value());
    CHECK(count(network, LineKind::kLink, Reason::kLinkWithheld, withholding.node) == 1);
    CHECK(network.lost_by(withholding) == bond->units());
    // The round in whose beacon it had no part drew it for nothing; the link cost more than all its audits
    // pay.
    CHECK(network.lost_by(withholding) > network.paid_to(withholding));
    // What a verifier can copy before it seals is no end of a unit: its word accuses.
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
    // What it said of honest slots kept them out of a merge, at its cost.
    CHECK(network.train_alone(node::run_record(network.state(), job)) == job.base_root);
}

TEST_CASE("a buyer that serves no verifier its data gets no audit, no work and no bond, and pays its fee") {
    ScenarioPlan plan = small_plan();
    plan.buyer_conducts = {node::Misconduct::kStarvingBuyer};
    plan.miners_have_data = true;
    SmallNetwork network(plan);
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kTooFewVerifiers);
    CHECK(job.rounds_done == 0);
    CHECK(job.verifiers.empty());
    CHECK(job.spent.is_zero());
    CHECK(job.auction.asks_revealed == network.net().miners.size());
    for (const auto* group : {&network.net().miners, &network.net().verifiers}) {
        for (const auto& who : *group) {
            CHECK(network.lost_by(who) == 0);
            CHECK(contracts::read_stake(network.state(), who.node).bonded.is_zero());
        }
    }
    const auto fee = contracts::job_fee(network.net().plan.params, job.spec);
    REQUIRE(fee.has_value());
    CHECK_FALSE(fee->is_zero());
    const base::Amount left = contracts::read_account(network.state(), network.net().buyer.owner).balance;
    CHECK(purse_of(network, network.net().buyer.owner) == left.plus(*fee));
    network.check_books();
}

}  // namespace assay::tests
