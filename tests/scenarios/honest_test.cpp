// SPDX-License-Identifier: Apache-2.0
// A run in which everybody is honest, and one miner's first device is lost in the middle of a segment; and
// what can be checked about it when every process has stopped.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "contracts/program/round_plan.hpp"
#include "node/audit/run_record.hpp"
#include "node/runtime/process.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/run_program.hpp"
#include "trainer/host/targets.hpp"

namespace assay::tests {

using contracts::LineKind;
using contracts::Reason;
namespace fs = std::filesystem;

namespace {

// The first miner has two devices, of which the first is lost in its second segment.
constexpr const char* kFault = "cuda-host lost 120";
ScenarioPlan two_devices_plan() {
    ::setenv("ASSAY_DEVICE_FAULT", kFault, 1);  // of that device alone, and no other miner has one
    ScenarioPlan plan = small_plan();
    plan.miners.front().device = "cuda-host,cpu";
    return plan;
}

// One run serves all test cases of this file.
const SmallNetwork& honest_run() {
    static SmallNetwork network(two_devices_plan());
    static const bool ran = (network.run(), true);
    REQUIRE(ran);
    return network;
}

struct AuditRun {
    int code = 0;
    nlohmann::json report;
};

// `assay audit ledger` as a person runs it.
AuditRun audit_home(const fs::path& home) {
    const fs::path out = home / "audit.json";
    fs::remove(out);
    node::ProcessOptions options;
    options.program = built_program("assay");
    options.arguments = {"audit", "ledger", "--home", home.string(), "-o", "json"};
    options.stdout_file = out;
    options.stderr_file = home / "audit.log";
    node::Process process = must(node::Process::spawn(options));
    AuditRun audited{.code = process.wait().code, .report = {}};
    std::ifstream stream(out);
    audited.report = nlohmann::json::parse(stream, nullptr, false);
    return audited;
}

fs::path copy_ledger(const SmallNetwork& network, const fs::path& home) {
    fs::create_directories(home / "ledger");
    for (const char* name : {"blocks.log", "genesis.bin"}) {
        fs::copy_file(network.net().sequencer.home.ledger() / name, home / "ledger" / name,
                      fs::copy_options::overwrite_existing);
    }
    return home / "ledger" / "blocks.log";
}

}  // namespace

TEST_CASE("an honest run pays every slot, loses nothing and checks from its files") {
    const SmallNetwork& network = honest_run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(job.rounds_done == job.spec.rounds);
    const auto slots = network.lines(LineKind::kSlot);
    CHECK(slots.size() == std::size_t{job.spec.rounds} * job.spec.slots);
    for (const auto& line : slots) {
        CHECK(line.reason == Reason::kPaid);
        CHECK(line.paid.units() == line.price.units() * line.work_units);
        CHECK(line.paid.units() > 0);
    }
    for (const auto& line : network.lines(LineKind::kAudit)) CHECK(line.reason == Reason::kPaidAudit);
    // Each round pays whoever opened the merge first; the others attest it.
    std::set<std::uint32_t> merged;
    for (const auto& line : network.lines(LineKind::kMerge)) {
        if (line.reason == Reason::kPaidMerge)
            CHECK(merged.insert(line.round).second);
        else
            CHECK(line.reason == Reason::kMergeAttested);
    }
    CHECK(merged.size() == job.spec.rounds);
    CHECK(network.lines(LineKind::kLink).empty());
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    for (const auto& who : network.net().verifiers) {
        CHECK(network.lost_by(who) == 0);
        CHECK(network.paid_to(who) > 0);
    }
    CHECK(job.spec.market.budget.units() == job.spent.units() + job.refunded.units());
    network.check_books();
    const auto replays = network.replay_everything();
    CHECK(replays.size() == slots.size());
    for (const auto& replay : replays) {
        CHECK(replay.judgement == node::Judgement::kRight);
        CHECK(replay.count(node::UnitReplay::Comparison::kEqual) == program::RoundPlan(job.spec).units());
    }
}

TEST_CASE("a miner whose device is lost in the middle of a segment goes on with its other one, and is paid") {
    const SmallNetwork& network = honest_run();
    const node::Participant& miner = network.net().miners.front();
    const std::string log = node::log_tail(miner.home, miner.name, 1'000);
    INFO(log);
    const auto put_out = log.find("device cuda-host is put out of use: cuda-host: the device is lost");
    REQUIRE(put_out != std::string::npos);
    const auto again = log.find("resuming", put_out);
    REQUIRE(again != std::string::npos);
    CHECK(log.find("at segment 1", again) != std::string::npos);
    CHECK(network.verdicts(0, miner) == std::vector{Reason::kPaid});
    CHECK(network.lost_by(miner) == 0);
}

TEST_CASE("every role that opened the job logged what a step takes") {
    const auto& net = honest_run().net();
    for (const auto& group : {net.miners, net.verifiers}) {
        for (const auto& who : group) {
            const std::string log = test::file_text(who.home.logs() / (who.name + ".log"));
            INFO(who.name << ": " << log);
            const std::size_t at = log.find(" parameters, a step takes ");
            REQUIRE(at != std::string::npos);
            CHECK(log.find(" MiB", at) != std::string::npos);
        }
    }
}

TEST_CASE("a job trained alone from the record gives the run's model on every target and thread count") {
    const SmallNetwork& network = honest_run();
    const base::Hash256 root = network.job().base_root;
    const auto record = node::run_record(network.state(), network.job());
    CHECK(network.train_alone(std::nullopt) == root);
    for (const std::string& target : trainer::machine_targets()) {
        for (const unsigned threads : {1U, 2U}) {
            INFO(target << ", " << threads << " threads");
            CHECK(network.train_alone(record, target, threads) == root);
        }
    }
}

TEST_CASE("the ledger audit passes the untouched copy and names the block of every flipped byte") {
    const SmallNetwork& network = honest_run();
    const test::TemporaryFolder copy;
    const fs::path log = copy_ledger(network, copy.path());
    const AuditRun untouched = audit_home(copy.path());
    CHECK(untouched.code == 0);
    REQUIRE(untouched.report.is_object());
    CHECK(untouched.report["ok"] == true);
    const std::uint64_t size = fs::file_size(log);
    std::uint64_t last_block = 0;
    for (const std::uint64_t part : {3U, 20U, 50U, 80U, 99U}) {
        const std::uint64_t offset = size * part / 100;
        INFO("byte " << offset << " of " << size);
        copy_ledger(network, copy.path());
        test::flip_byte(log, offset, 0x10);
        const AuditRun tampered = audit_home(copy.path());
        CHECK(tampered.code == 7);
        REQUIRE(tampered.report.is_object());
        CHECK(tampered.report["ok"] == false);
        REQUIRE_FALSE(tampered.report["failures"].empty());
        const std::string where = tampered.report["failures"][0]["where"];
        INFO(where);
        REQUIRE(where.starts_with("block "));
        const std::uint64_t block = std::stoull(where.substr(6));
        // Everything before the damage checks, so the block named is the first that does not.
        CHECK(block == tampered.report["height"].get<std::uint64_t>() + 1);
        CHECK(block > last_block);
        last_block = block;
    }
}

}  // namespace assay::tests
