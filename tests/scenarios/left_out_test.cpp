// SPDX-License-Identifier: Apache-2.0
// Verifiers that leave slots out of their seals, one of them killed while its audit is partly found and while
// its seal is in no block: nothing that it sealed is lost, nothing is sealed twice.
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "ledger/audit/evidence.hpp"
#include "node/audit/run_record.hpp"
#include "node/roles/verifier.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::LineKind;
using contracts::Reason;
using contracts::RoundPhase;
using contracts::Stage;
using namespace std::chrono_literals;

namespace {

// Of the verifiers: one leaves out the slots of the first miner, one all of its slots but one.
constexpr std::size_t kSparing = 0, kIdle = 1;

ScenarioPlan left_out_plan() {
    ScenarioPlan plan = slow_plan();
    plan.verifiers = 3;
    plan.verifier_misconducts = {{kSparing, node::Misconduct::kLeftOutForAccomplice},
                                 {kIdle, node::Misconduct::kLeftOut}};
    plan.verifier_flags = {{kIdle, {"--lock", "60"}}};  // or it is dropped when nothing is left to lose
    plan.slots = 9;
    plan.job.rounds = 4;          // in one of the first three the accomplice's slots are not the last of all
    plan.params.max_missed = 10;  // a slot that is left out makes its verifier absent for the round
    // Whoever is killed while it audits has time to begin again.
    plan.params.audit_seal_window = 240 * kPatience;
    plan.params.claim_window = 3 * plan.params.audit_seal_window;
    return plan;
}

/// How far a verifier is with its panel's audit of a round, as its log and its disk say.
struct AuditProgress {
    std::size_t recomputed = 0;
    std::size_t left_out = 0;
    std::optional<node::SealedAudit> sealed;  ///< the words of its seal, which it keeps before it sends it
};

AuditProgress audit_progress(const node::Participant& verifier, const base::Hash256& job,
                             std::uint32_t round) {
    AuditProgress progress;
    const std::string place = node::round_name(job, round) + " slot ";
    std::istringstream lines(node::log_tail(verifier.home, verifier.name, 10'000));
    for (std::string line; std::getline(lines, line);) {
        if (line.find("recomputed " + place) != std::string::npos) ++progress.recomputed;
        const bool left = line.find("left out of our audit") != std::string::npos;
        if (left && line.find(place) != std::string::npos) ++progress.left_out;
    }
    const std::string note = node::audit_file(job, round, contracts::Stage::kPanel);
    std::ifstream stream(verifier.home.jobs() / note, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    auto sealed = base::decode<node::SealedAudit>(base::as_bytes(bytes));
    if (sealed.ok()) progress.sealed = std::move(sealed).value();
    return progress;
}

/// Kills the sparing verifier in two rounds.
class Killer {
public:
    explicit Killer(SmallNetwork& network) : network_(network), victim_(network.net().verifiers[kSparing]) {
        network.allow_death_of(victim_.name);
        network.on_event([this](const node::Follower& ledger, const contracts::Event& event) {
            if (!before_block) look(ledger.state(), event);
        });
    }

    std::optional<std::uint32_t> partly;        ///< round in which some slots were computed and others left
    std::optional<std::uint32_t> before_block;  ///< round in which its seal was on its disk alone
    std::optional<base::Hash256> kept_seal;     ///< that one

private:
    void look(const contracts::StateView& state, const contracts::Event& event) {
        if (!is_phase(event, event.round, RoundPhase::kAuditSeal)) return;
        const base::PublicKey accomplice = network_.net().miners[0].node;
        const auto drawn =
            contracts::assigned_slots(state, event.job, event.round, Stage::kPanel, victim_.node);
        std::size_t others = 0;
        for (const auto& one : drawn)
            if (contracts::read_slot(state, event.job, event.round, one.slot)->miner != accomplice) ++others;
        if (others < 2 || others == drawn.size()) return;
        wait_until("a part of the audit of " + victim_.name, 60s, [&] {
            const AuditProgress now = audit_progress(victim_, event.job, event.round);
            return (now.recomputed > 0 && now.left_out > 0) || now.sealed;
        });
        if (!partly) {
            kill_partly(event, others);
        } else {
            kill_before_block(event, others);
        }
    }

    void kill_partly(const contracts::Event& event, std::size_t others) {
        must(network_.network().signal(victim_.name, SIGSTOP));
        const AuditProgress at = audit_progress(victim_, event.job, event.round);
        // Too late, or its accomplice's slots are behind all others.
        if (at.sealed || at.recomputed == 0 || at.left_out == 0 || at.recomputed >= others)
            return must(network_.network().signal(victim_.name, SIGCONT));
        must(network_.network().restart(victim_.name));
        partly = event.round;
    }

    void kill_before_block(const contracts::Event& event, std::size_t others) {
        // With the node stopped no seal comes into a block.
        must(network_.network().signal("node", SIGSTOP));
        wait_until("the seal of " + victim_.name + " on its disk", 60s,
                   [&] { return audit_progress(victim_, event.job, event.round).sealed.has_value(); });
        must(network_.network().signal(victim_.name, SIGKILL));
        const auto kept = audit_progress(victim_, event.job, event.round).sealed;
        REQUIRE(kept);
        CHECK(kept->claims.size() == others);
        kept_seal = contracts::audit_seal(network_.net().genesis.chain_id, event.job, event.round,
                                          Stage::kPanel, victim_.node, kept->claims, kept->salt);
        must(network_.network().signal("node", SIGCONT));
        must(network_.network().restart(victim_.name));
        before_block = event.round;
    }

    SmallNetwork& network_;
    const node::Participant& victim_;
};

/// Every seal of audits by the node that is in a block.
std::vector<contracts::AuditSeal> seals_by(const SmallNetwork& network, const base::PublicKey& node) {
    const auto read = must(ledger::block_reader(network.net().sequencer.home.root.string()));
    std::vector<contracts::AuditSeal> seals;
    std::uint64_t height = 1;
    for (auto block = read(height); block.ok(); block = read(++height)) {
        for (const base::Bytes& bytes : block->transactions) {
            const auto sent = contracts::check_static(network.net().genesis.chain_id, bytes);
            REQUIRE(sent.ok());
            const auto* seal = std::get_if<contracts::AuditSeal>(&sent->body.payload);
            if (seal != nullptr && sent->body.sender == node) seals.push_back(*seal);
        }
    }
    return seals;
}

/// One seal for each round and stage, and that one was opened.
void check_sealed_once(const SmallNetwork& network, const Killer& killer) {
    const contracts::Job job = network.job();
    const base::PublicKey victim = network.net().verifiers[kSparing].node;
    std::set<std::pair<std::uint32_t, Stage>> sealed;
    for (const contracts::AuditSeal& seal : seals_by(network, victim)) {
        CAPTURE(seal.round);
        CHECK(sealed.insert({seal.round, seal.stage}).second);
        const auto posting = contracts::read_audit(network.state(), job.id, seal.round, seal.stage, victim);
        REQUIRE(posting.has_value());
        CHECK(posting->opened);
        CHECK(posting->seal == seal.seal);
        if (seal.round == *killer.before_block && seal.stage == Stage::kPanel)
            CHECK(seal.seal == *killer.kept_seal);
    }
    for (const std::uint32_t round : {*killer.partly, *killer.before_block})
        CHECK(sealed.contains({round, Stage::kPanel}));
}

/// Who leaves slots out pays for each of them, and for nothing else.
void check_audits(const SmallNetwork& network) {
    const contracts::Job job = network.job();
    const auto& verifiers = network.net().verifiers;
    const std::uint64_t each =
        contracts::accusation_stake(network.net().plan.params, job.auction.clearing_price, job.slot_work)
            .value()
            .units();
    std::map<base::PublicKey, std::uint64_t> locked;  // what is left of it
    for (const auto& verifier : job.verifiers) locked[verifier.node] = verifier.locked.units();
    std::map<base::PublicKey, std::uint64_t> left_out;
    std::map<base::PublicKey, std::uint64_t> lost;
    std::map<std::pair<std::uint32_t, Stage>, int> heard_of_idle;
    for (const auto& line : network.lines(LineKind::kAudit)) {
        const auto slot = contracts::read_slot(network.state(), job.id, line.round, line.slot);
        REQUIRE(slot.has_value());
        CAPTURE(line.round, line.slot);
        const bool silent = line.reason == Reason::kAuditSilent;
        CHECK((silent || line.reason == Reason::kPaidAudit));
        const std::uint64_t due = silent ? std::min(each, locked[line.node]) : 0;
        CHECK(line.lost.units() == due);
        locked[line.node] -= due;
        lost[line.node] += due;
        left_out[line.node] += silent ? 1U : 0U;
        if (line.node == verifiers[kSparing].node)
            CHECK(silent == (slot->miner == network.net().miners[0].node));
        const auto place =
            std::find(slot->verifiers.begin(), slot->verifiers.end(), line.node) - slot->verifiers.begin();
        const Stage stage = contracts::stage_of(static_cast<std::size_t>(place), *slot);
        if (line.node == verifiers[kIdle].node && !silent) CHECK(++heard_of_idle[{line.round, stage}] == 1);
    }
    CHECK_FALSE(heard_of_idle.empty());
    for (std::size_t place = 0; place < verifiers.size(); ++place) {
        CHECK(network.lost_by(verifiers[place]) == lost[verifiers[place].node]);
        CHECK((left_out[verifiers[place].node] > 0) == (place == kSparing || place == kIdle));
    }
}

}  // namespace

TEST_CASE(
    "verifiers that leave slots out pay for these and no others; one that is killed while its audit is "
    "partly "
    "found, or before its seal is in a block, seals once") {
    SmallNetwork network(left_out_plan());
    Killer killer(network);
    network.run();
    REQUIRE(killer.partly.has_value());
    REQUIRE(killer.before_block.has_value());
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(job.rounds_done == job.spec.rounds);
    check_sealed_once(network, killer);
    check_audits(network);
    // A unit that nobody is heard about in the end is paid.
    for (const auto& line : network.lines(LineKind::kSlot))
        CHECK((line.reason == Reason::kPaid || line.reason == Reason::kPaidUndecided));
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    network.check_books();
    CHECK(network.train_alone(node::run_record(network.state(), job)) == job.base_root);
}

}  // namespace assay::tests
