// SPDX-License-Identifier: Apache-2.0
// `assay miner run --node-per-device` beside a ledger node: a home and a node key for each device, devices
// that are refused, orders that reach all, and what becomes of the others when one miner ends.
#include <chrono>
#include <iterator>
#include <thread>

#include "node/processes/device_homes.hpp"
#include "node/roles/miner_order.hpp"
#include "node/runtime/process.hpp"
#include "tests/node/processes/site.hpp"

namespace assay::node {
namespace {

using test_site::Site;
using test_site::tokens;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Alice's machine, at `--device cpu,reference` and more words.
struct AlicesMachine {
    AlicesMachine(const Site& site, const Words& more, const std::string& devices = "cpu,reference") {
        const char* bin = std::getenv("ASSAY_BIN_DIR");
        ProcessOptions options;
        options.program = fs::path(bin == nullptr ? "." : bin) / "assay";
        options.arguments = {"miner",
                             "run",
                             "--node-per-device",
                             "--device",
                             devices,
                             "--self-check",
                             "0",
                             "--home",
                             site.home.root.string(),
                             "--node",
                             site.node->address(),
                             "--genesis",
                             site.genesis,
                             "--passphrase-file",
                             (site.folder / "words").string()};
        options.arguments.insert(options.arguments.end(), more.begin(), more.end());
        options.environment = {{"ASSAY_THREADS", "1"}};
        options.stdout_file = options.stderr_file = folder / "log";
        process.emplace(Process::spawn(options).value());
    }
    [[nodiscard]] std::string said() const {
        std::ifstream file(folder / "log");
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] bool says(const std::string& words) const {
        return said().find(words) != std::string::npos;
    }
    /// Waits for what a machine that works comes to.
    template <class Happened>
    void wait_for(const Happened& happened) {
        for (int i = 0; i < 30'000 && !happened() && !process->poll(); ++i) std::this_thread::sleep_for(10ms);
        INFO(said());
        REQUIRE(happened());
    }
    /// How it ended by itself.
    int code() {
        const auto ended = process->wait(300s);
        INFO(said());
        REQUIRE(ended.has_value());
        REQUIRE(ended->signal == 0);
        return ended->code;
    }
    assay::test::TemporaryFolder folder;
    std::optional<Process> process;
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
    AlicesMachine machine(site, {"--stake", "200"}, "cpu,cuda:7,reference");
    const Home processor = device_home(site.home, "cpu"), law = device_home(site.home, "reference");
    machine.wait_for(
        [&] { return staked(site, processor) == tokens(200) && staked(site, law) == tokens(200); });
    CHECK(machine.says("cuda:7"));  // refused, told, and left out
    CHECK_FALSE(fs::exists(device_home(site.home, "cuda:7").root));
    for (const Home& home : {processor, law}) {
        const base::PublicKey node = inspect_key_file(home.node_key()).value().public_key;
        CHECK(site.read<contracts::NodeKey>(contracts::node_key(node))->owner ==
              assay::test::key_of("alice").public_key());
        CHECK_FALSE(fs::exists(home.owner_key()));
    }
    CHECK_FALSE(site.read<contracts::Miner>(contracts::miner_key(Site::alices_node())).has_value());

    REQUIRE(for_each_miner_home(site.home, [](DiskPort& notes) {
                return write_order(notes, MinerOrder::kDrain);
            }).ok());
    CHECK(machine.code() == 0);
    CHECK(machine.says("the miner of cpu is done"));
    CHECK(machine.says("the miner of reference is done"));
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
