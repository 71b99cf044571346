// SPDX-License-Identifier: Apache-2.0
// `assay miner run --node-per-device` beside a ledger node: a home and a node key for each device, devices
// that are refused, orders that reach all, and what becomes of the others when one miner ends.
#include <chrono>
#include <csignal>
#include <thread>

#include "node/processes/device_homes.hpp"
#include "node/processes/side_by_side.hpp"
#include "node/roles/unsound_notes.hpp"
#include "node/roles/work_order.hpp"
#include "node/runtime/ledger_link.hpp"
#include "tests/node/processes/alice_program.hpp"

namespace assay::node {
namespace {

using test_site::Site;
using test_site::tokens;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// `assay miner run --node-per-device` of Alice, for these devices and with more words.
struct AlicesMachine : test_site::AliceProgram {
    AlicesMachine(const Site& site, const Words& more, const std::string& devices = "cpu,reference",
                  std::vector<std::pair<std::string, std::string>> environment = {})
        : AliceProgram(site, words_of(more, devices), {.environment = std::move(environment)}) {}
    static Words words_of(const Words& more, const std::string& devices) {
        Words words = {"miner", "run", "--node-per-device", "--device", devices, "--self-check", "0"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    /// Waits for what a machine that works comes to.
    template <class Happened>
    void wait_for(const Happened& happened) {
        for (int i = 0; i < 30'000 && !happened() && !process->poll(); ++i) std::this_thread::sleep_for(10ms);
        INFO(said());
        REQUIRE(happened());
    }
};

base::Amount staked(Site& site, const Home& home) {
    const auto key = inspect_key_file(home.node_key());
    if (!key.ok()) return {};
    const auto stake = site.read<contracts::Stake>(contracts::stake_key(key->public_key));
    return stake ? stake->free : base::Amount{};
}

}  // namespace

TEST_CASE("each device has a miner of its own under one owner, and an order at the home reaches all") {
    Site site;
    const std::string traffic = (site.folder / "traffic").string();
    AlicesMachine machine(site, {"--stake", "200", "--announce", "127.0.0.1:7100", "--traffic", traffic},
                          "cpu,cuda:7,reference");
    const Home processor = device_home(site.home, "cpu"), law = device_home(site.home, "reference");
    machine.wait_for(
        [&] { return staked(site, processor) == tokens(200) && staked(site, law) == tokens(200); });
    CHECK(machine.says("cuda:7"));  // refused, told, and left out
    CHECK_FALSE(fs::exists(device_home(site.home, "cuda:7").root));
    // The port of a device is that of its place, whether those before it work or not.
    for (const auto& [home, port] : {std::pair(processor, "7100"), std::pair(law, "7102")}) {
        const base::PublicKey node = inspect_key_file(home.node_key()).value().public_key;
        CHECK(site.read<contracts::NodeKey>(contracts::node_key(node))->owner ==
              assay::test::key_of("alice").public_key());
        CHECK(site.read<contracts::Miner>(contracts::miner_key(node))->endpoint ==
              "127.0.0.1:" + std::string(port));
        CHECK_FALSE(fs::exists(home.owner_key()));
    }
    CHECK_FALSE(site.read<contracts::Miner>(contracts::miner_key(Site::alices_node())).has_value());

    REQUIRE(for_each_miner_home(site.home, [](DiskPort& notes) {
                return write_order(notes, WorkRole::kMiner, WorkOrder::kDrain);
            }).ok());
    CHECK(machine.code() == 0);
    CHECK(machine.says("the miner of cpu is done"));
    CHECK(machine.says("the miner of reference is done"));
    CHECK(fs::exists(traffic + ".cpu"));
    CHECK(fs::exists(traffic + ".reference"));
}

TEST_CASE("a device with other bits is left out, and its home keeps a note for the next process there") {
    Site site;
    REQUIRE(make_device_home(site.home, "cuda-host", Passphrase{"alice's words"}).ok());
    AlicesMachine machine(site, {"--stake", "200"}, "cpu,cuda-host",
                          {{"ASSAY_DEVICE_FAULT", "cuda-host wrong 1"}});
    machine.wait_for([&] { return staked(site, device_home(site.home, "cpu")) == tokens(200); });
    CHECK(machine.says("it computes other bits"));
    const Home left_out = device_home(site.home, "cuda-host");
    CHECK(machine.says("assay miner drain --home " + left_out.root.string()));
    CHECK(noted_unsound(*make_disk_port(left_out.jobs()).value()).value() == Words{"cuda-host"});
    CHECK(staked(site, left_out).is_zero());
    const auto ended = machine.process->terminate(120s);
    INFO(machine.said());
    CHECK(ended.success());  // what was refused at the start is no error
}

TEST_CASE(
    "a miner that ends with an error leaves the others at work, and the exit code tells it at the end") {
    Site site;
    AlicesMachine machine(site, {"--stake", "600"});  // Alice has 1000
    const Home processor = device_home(site.home, "cpu"), law = device_home(site.home, "reference");
    machine.wait_for([&] { return machine.says("ended with exit code 6"); });
    machine.wait_for(
        [&] { return staked(site, processor) == tokens(600) || staked(site, law) == tokens(600); });
    CHECK(machine.says("insufficient_balance"));
    CHECK_FALSE(machine.process->poll().has_value());
    const auto ended = machine.process->terminate(120s);
    INFO(machine.said());
    CHECK(ended.signal == 0);
    CHECK(ended.code == 6);
}

TEST_CASE(
    "an end by the signal that stops is none to report once it was sent, and a code is of a kind or 1") {
    using base::ErrorKind;
    CHECK(ended_well("one", {.code = 0}, false).ok());
    CHECK(ended_well("one", {.signal = SIGTERM}, true).ok());
    for (const auto& [ended, told, kind] :
         {std::tuple(ExitStatus{.signal = SIGTERM}, false, ErrorKind::kFailure),
          std::tuple(ExitStatus{.signal = SIGKILL}, true, ErrorKind::kFailure),
          std::tuple(ExitStatus{.code = 6}, true, ErrorKind::kRejected),
          std::tuple(ExitStatus{.code = 130}, false, ErrorKind::kInterrupted),
          std::tuple(ExitStatus{.code = 9}, false, ErrorKind::kFailure),
          std::tuple(ExitStatus{.code = 127}, false, ErrorKind::kFailure)}) {
        INFO(to_text(ended));
        const auto well = ended_well("one", ended, told);
        REQUIRE_FALSE(well.ok());
        CHECK(well.error().kind == kind);
        CHECK(well.error().what == "one ended with " + to_text(ended));
    }
}

TEST_CASE("where no device is left nothing is made, and a passphrase that opens nothing makes no key") {
    Site site;
    AlicesMachine none(site, {}, "cuda:7,cuda:8");
    CHECK(none.code() == 8);
    CHECK(none.says("cuda:7"));
    std::ofstream(site.folder / "words", std::ios::trunc) << "others' words\n";
    AlicesMachine closed(site, {}, "cpu");
    CHECK(closed.code() == 5);
    CHECK(device_homes(site.home).empty());
}

}  // namespace assay::node
