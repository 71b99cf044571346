// SPDX-License-Identifier: Apache-2.0
// Processes killed with SIGKILL that come back: nothing acknowledged is lost, no bit changes.
#include <signal.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::EventKind;
using contracts::LineKind;
using contracts::Reason;
using contracts::RoundPhase;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// The assay-worker that a process started last; nothing when it has none now.
std::optional<pid_t> worker_of(pid_t parent) {
    std::optional<pid_t> found;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator("/proc", gone)) {
        const std::string name = entry.path().filename();
        pid_t pid = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
        std::string line;
        std::getline(std::ifstream(entry.path() / "stat"), line);
        const std::size_t end = line.rfind(") ");
        if (end == std::string::npos || line.find("(assay-worker)") == std::string::npos) continue;
        const char state = line[end + 2];
        if (state == 'Z' || state == 'X') continue;
        if (std::stol(line.substr(end + 4)) == parent) found = pid;
    }
    return found;
}

/// What the miner has on disk of a slot that it trains.
std::optional<node::SlotWork> work_on_disk(const node::Participant& miner, std::uint32_t round) {
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator(miner.home.jobs(), gone)) {
        if (!entry.path().filename().string().starts_with("slot-")) continue;
        std::ifstream stream(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        auto work = base::decode<node::SlotWork>(base::as_bytes(bytes));
        if (work.ok() && work->round == round) return std::move(work).value();
    }
    return std::nullopt;
}

/// Waits until the miner is past a boundary of the round's first slot it works on, and not yet done.
void wait_for_boundary(const node::Participant& miner, std::uint32_t round) {
    wait_until(miner.name + " is in the middle of a slot", 60s, [&] {
        const auto work = work_on_disk(miner, round);
        return work && !work->boundary_blobs.empty();
    });
    REQUIRE_FALSE(work_on_disk(miner, round)->complete);
}

void check_undisturbed_result(const SmallNetwork& network) {
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(job.rounds_done == job.spec.rounds);
    for (const auto& line : network.lines(LineKind::kSlot)) CHECK(line.reason == Reason::kPaid);
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    for (const auto& who : network.net().verifiers) CHECK(network.lost_by(who) == 0);
    network.check_books();
    CHECK(network.train_alone(std::nullopt) == job.base_root);
}

}  // namespace

TEST_CASE("a worker and a miner killed while training go on from their last boundary with the same bits") {
    ScenarioPlan plan = slow_plan();
    plan.job.train.inner_steps = 64;  // nobody is done before the kill, even on a busy machine
    SmallNetwork network(plan);
    network.allow_death_of("miner-2");
    bool worker_killed = false;
    bool miner_killed = false;
    network.on_event([&](const node::Follower&, const contracts::Event& event) {
        if (event.kind != EventKind::kRoundStarted) return;
        if (event.round == 0) {
            const node::Participant& victim = network.net().miners[0];
            wait_for_boundary(victim, 0);
            const pid_t miner = network.network().processes().at(victim.name);
            const auto worker = worker_of(miner);
            REQUIRE(worker.has_value());
            REQUIRE(kill(*worker, SIGKILL) == 0);
            wait_until("a new worker of the same miner", 60s, [&] {
                const auto now = worker_of(miner);
                return now && *now != *worker;
            });
            worker_killed = true;
        } else {
            wait_for_boundary(network.net().miners[1], 1);
            must(network.network().restart("miner-2"));
            miner_killed = true;
        }
    });
    network.run();
    REQUIRE(worker_killed);
    REQUIRE(miner_killed);
    const auto log = node::log_tail(network.net().miners[1].home, "miner-2", 1'000);
    INFO(log);
    CHECK(log.find("resuming") != std::string::npos);
    check_undisturbed_result(network);
}

TEST_CASE("a ledger node killed in the middle of a round comes back with everything it acknowledged") {
    SmallNetwork network(slow_plan());
    network.allow_death_of("node");
    const contracts::Amount gift = base::units(123'456);
    contracts::Amount before;
    bool killed = false;
    network.on_event([&](const node::Follower& follower, const contracts::Event& event) {
        if (event.kind != EventKind::kRoundPhase || event.round != 0) return;
        if (static_cast<RoundPhase>(event.number) != RoundPhase::kAuditSeal) return;
        // The sequencer's owner pays the second miner's owner: neither key signs anything else by now.
        const base::PublicKey to = network.net().miners[1].owner;
        before = contracts::read_account(follower.state(), to).balance;
        const auto reply = network.submit_as_owner(network.net().sequencer, follower.state(),
                                                   contracts::Transfer{.to = to, .amount = gift});
        const auto ledger = network.ledger();
        const std::uint64_t height = insist([&] { return ledger->status(); }).height;
        CHECK(height >= reply.height);
        std::vector<base::Bytes> blocks;
        for (std::uint64_t h = 1; h <= height; ++h)
            blocks.push_back(insist([&] { return ledger->block(h); }));
        must(network.network().restart("node"));
        must(node::wait_until_healthy({.address = network.network().node_address(), .tls = {}}, 60s));
        const auto again = network.ledger();
        CHECK(insist([&] { return again->status(); }).height >= height);
        for (std::uint64_t h = 1; h <= height; ++h) {
            INFO("block " << h);
            REQUIRE(insist([&] { return again->block(h); }) == blocks[h - 1]);
        }
        killed = true;
    });
    network.run();
    REQUIRE(killed);
    const base::PublicKey to = network.net().miners[1].owner;
    const std::uint64_t after = contracts::read_account(network.state(), to).balance.units();
    CHECK(after == before.units() + gift.units() + network.paid_to(network.net().miners[1]));
    check_undisturbed_result(network);
}

TEST_CASE("a verifier killed between its seal and its opening opens that seal when it is back") {
    ScenarioPlan plan = slow_plan();
    // One verifier audits, is killed and comes back before the other one begins, all in one window.
    plan.params.audit_seal_window *= 3;
    plan.params.claim_window = 3 * plan.params.audit_seal_window;
    SmallNetwork network(plan);
    network.allow_death_of("verifier-1");
    std::optional<base::Hash256> seal;
    base::Hash256 job;
    network.on_event([&](const node::Follower&, const contracts::Event& event) {
        if (event.kind != EventKind::kRoundPhase || event.round != 0) return;
        if (static_cast<RoundPhase>(event.number) != RoundPhase::kAuditSeal) return;
        job = event.job;
        const node::Participant& victim = network.net().verifiers[0];
        // While its colleague stands still the openings cannot begin.
        must(network.network().signal("verifier-2", SIGSTOP));
        const auto ledger = network.ledger();
        const auto key = contracts::audit_key(job, 0, contracts::Stage::kPanel, victim.node);
        wait_until("the seal of verifier-1", 60s, [&] {
            const auto value = insist([&] { return ledger->get(key); });
            if (!value.value) return false;
            const auto posting = base::decode<contracts::AuditPosting>(*value.value);
            REQUIRE(posting.ok());
            REQUIRE_FALSE(posting->opened);
            if (posting->sealed) seal = posting->seal;
            return posting->sealed;
        });
        must(network.network().restart("verifier-1"));
        must(network.network().signal("verifier-2", SIGCONT));
    });
    network.run();
    REQUIRE(seal.has_value());
    const auto posting = contracts::read_audit(network.state(), job, 0, contracts::Stage::kPanel,
                                               network.net().verifiers[0].node);
    REQUIRE(posting.has_value());
    CHECK(posting->opened);
    CHECK(posting->seal == *seal);
    for (const auto& line : network.lines(LineKind::kAudit)) CHECK(line.reason == Reason::kPaidAudit);
    check_undisturbed_result(network);
}

TEST_CASE("two nodes killed in every phase come back, and nobody honest loses anything") {
    ScenarioPlan plan = slow_plan();
    plan.verifiers = 3;
    // Where all who seal say that open starts were not served one more verifier is drawn to confirm. With so
    // many slots some of them are drawn to these two alone.
    plan.verifier_misconducts = {{1, node::Misconduct::kFalseReplay}, {2, node::Misconduct::kFalseReplay}};
    plan.params.probation_rounds = 0;
    plan.job.security.audit_threshold = UINT64_MAX / 2;
    plan.slots = 12;
    plan.job.rounds = 3;
    SmallNetwork network(plan);
    const std::vector<std::string> victims = {"miner-1", "verifier-1", "miner-2", "verifier-2", "node"};
    for (const std::string& name : victims) network.allow_death_of(name);
    std::set<RoundPhase> phases;
    std::size_t next = 0;
    // One more is drawn after the openings only where all of a panel are silent: in the last round one of the
    // two, if it was drawn alone for a slot, stands still until the seals are over.
    const std::uint32_t last = plan.job.rounds - 1;
    std::optional<base::PublicKey> silent;
    network.on_event([&](const node::Follower& ledger, const contracts::Event& event) {
        if (is_phase(event, last, RoundPhase::kAuditSeal)) {
            for (const auto& slot : contracts::list_slots(ledger.state(), event.job, last)) {
                const bool alone = slot.verifiers.size() == 1 && !slot.drawn_units.empty() &&
                                   slot.verifiers[0] != network.net().verifiers[0].node;
                if (alone) silent = slot.verifiers[0];
            }
            if (silent) must(network.network().signal(network.participant(*silent).name, SIGSTOP));
        }
        const bool seals_over =
            is_phase(event, last, RoundPhase::kConfirmSeal) || is_phase(event, last, RoundPhase::kAuditOpen);
        if (silent && seals_over) must(network.network().signal(network.participant(*silent).name, SIGCONT));
        const bool begins = event.kind == EventKind::kRoundStarted;
        if (!begins && event.kind != EventKind::kRoundPhase) return;
        const auto phase = begins ? RoundPhase::kCommit : static_cast<RoundPhase>(event.number);
        if (!phases.insert(phase).second) return;
        const std::string& first = victims[next++ % victims.size()];
        const std::string& second = victims[next++ % victims.size()];
        // Both are gone before either comes back.
        must(network.network().signal(first, SIGKILL));
        must(network.network().signal(second, SIGKILL));
        must(network.network().restart(first));
        must(network.network().restart(second));
        if (first == "node" || second == "node")
            must(node::wait_until_healthy({.address = network.network().node_address(), .tls = {}}, 60s));
    });
    network.run();
    CHECK(phases.size() == static_cast<std::size_t>(RoundPhase::kMergeOpen) - (silent ? 0 : 2));
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(job.rounds_done == job.spec.rounds);
    for (const auto& line : network.lines(LineKind::kSlot)) CHECK(line.reason == Reason::kPaid);
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    for (const auto& who : network.net().verifiers) {
        if (who.node != silent) CHECK(network.lost_by(who) == 0);
    }
    network.check_books();
    CHECK(network.train_alone(std::nullopt) == job.base_root);
}

}  // namespace assay::tests
