// SPDX-License-Identifier: Apache-2.0
// One machine with two devices, the processor and an emulated card, offers a lot for each: two node keys of
// one owner, each with its own ask, and in the end its own class.
#include <iostream>
#include <set>

#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "node/key/key_file.hpp"
#include "node/processes/device_homes.hpp"
#include "tests/scenarios/run_assay.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using base::PublicKey;

namespace {

constexpr std::uint64_t kProcessorsAsk = 900;
constexpr std::uint64_t kCardsAsk = 700;
const std::string kAsks =
    "cuda-host=" + std::to_string(kCardsAsk) + "u,cpu=" + std::to_string(kProcessorsAsk) + "u";

ScenarioPlan two_devices() {
    ScenarioPlan plan = small_plan();
    plan.miners.clear();  // its machine is started by hand, by the second buyer
    plan.more_buyers = 1;
    plan.slots = 2;
    plan.market = {.epoch = 120 * kPatience, .seal_window = 40 * kPatience, .open_window = 40 * kPatience};
    plan.job.rounds = 1;
    plan.job.market.terms = {.gang = 2, .most = 2};
    return plan;
}

struct DeviceLots {
    SmallNetwork network{two_devices()};
    const node::Participant& owner = network.net().more_buyers.front();
    std::map<PublicKey, std::uint64_t> leased;  ///< prices
    base::Hash256 job;

    DeviceLots() {
        network.on_event([this](const node::Follower&, const contracts::Event& event) {
            if (event.kind == contracts::EventKind::kLeased) leased[event.node] = event.amount.units();
            if (event.kind == contracts::EventKind::kJobSubmitted) job = event.job;
        });
        std::vector<std::string> words = {
            "miner",        "run", "--node-per-device", "--device",     "cpu,cuda-host",
            "--ask",        kAsks, "--trade",           "--speed-bits", "0",
            "--self-check", "0",   "--stake",           "100"};
        const auto flags = network.network().common_flags(owner);
        words.insert(words.end(), flags.begin(), flags.end());
        must(network.network().spawn(owner.name, owner.home, std::move(words)));
    }
    [[nodiscard]] node::Home home_of(const std::string& device) const {
        return node::device_home(owner.home, device);
    }
    [[nodiscard]] PublicKey node_of(const std::string& device) const {
        return must(node::inspect_key_file(home_of(device).node_key())).public_key;
    }
    /// What the node's ask says once it is opened; nothing before.
    static std::optional<contracts::LotAsk> opened(const contracts::StateView& state, const PublicKey& node) {
        auto ask = contracts::read_lot_ask(state, node);
        return ask && ask->opened ? ask : std::nullopt;
    }
    void follow(const std::string& what, const std::function<bool(const contracts::StateView&)>& done) {
        network.follow_until(what, std::chrono::seconds(300), done);
    }
};

/// Lots that stand, by bits of speed, as `market show` says; nothing where the node has no room for the call.
std::map<int, int> standing(const std::string& node_address) {
    std::map<int, int> found;
    const test::ProgramRun run = test::run_program(test::built_program_path("assay"),
                                                   {"market", "show", "--node", node_address, "-o", "json"});
    if (run.code != 0) return found;
    const nlohmann::json shown = nlohmann::json::parse(run.out);
    for (const auto& one : shown.at("classes")) {
        const std::string kind = one.at("class");  // f32/SPEED/MEMORY/NETWORK
        const int lots = one.at("standing").get<int>();
        if (lots != 0) found[std::stoi(kind.substr(kind.find('/') + 1))] += lots;
    }
    return found;
}

}  // namespace

TEST_CASE("a machine's two devices are two lots of one owner, leased and paid in one job") {
    DeviceLots run;
    SmallNetwork& network = run.network;
    wait_until("the homes of both devices", std::chrono::seconds(300),
               [&] { return node::device_homes(run.owner.home).size() == 2; });
    const PublicKey processor = run.node_of("cpu"), card = run.node_of("cuda-host");
    CHECK(processor != card);
    network.submit_job(network.net().buyer, network.net().plan.home / "job.toml");

    // Nobody has measured them: one class, each at its own price.
    run.follow("two lots on offer", [&](const contracts::StateView& state) {
        return DeviceLots::opened(state, processor) && DeviceLots::opened(state, card);
    });
    run.follow("both lots leased", [&](const contracts::StateView& state) {
        if (const auto ask = DeviceLots::opened(state, processor))
            CHECK(ask->price.units() == kProcessorsAsk);
        if (const auto ask = DeviceLots::opened(state, card)) CHECK(ask->price.units() == kCardsAsk);
        return run.leased.contains(processor) && run.leased.contains(card);
    });
    CHECK(run.leased.size() == 2);
    // One bid for both pays the dearer ask for each.
    CHECK(run.leased.at(processor) == kProcessorsAsk);
    CHECK(run.leased.at(card) == kProcessorsAsk);

    run.follow("the end of the job", [&](const contracts::StateView& state) {
        const auto progress = contracts::read_job_progress(state, run.job);
        return !progress || contracts::is_over(progress->phase);
    });
    // From here on each is offered in the class of its own speed.
    std::map<PublicKey, std::uint8_t> speeds;
    run.follow("two lots of measured classes", [&](const contracts::StateView& state) {
        for (const PublicKey& node : {processor, card}) {
            const auto ask = DeviceLots::opened(state, node);
            const auto speed = contracts::read_machine(state, node, program::Profile::kF32).speed_bits();
            if (!ask || !speed || ask->kind.speed != *speed) return false;
            speeds[node] = *speed;
        }
        return true;
    });
    std::cout << "the processor is measured at " << int{speeds[processor]} << " bits, the emulated card at "
              << int{speeds[card]} << std::endl;
    std::map<int, int> lots;
    for (const auto& [node, speed] : speeds) ++lots[speed];
    wait_until("both lots in market show", std::chrono::seconds(300),
               [&] { return standing(network.network().node_address()) == lots; });
    network.stop();

    std::set<PublicKey> paid;
    for (const auto& line : contracts::list_settlement(network.state(), run.job, 0)) {
        if (line.kind != contracts::LineKind::kSlot) continue;
        CHECK(line.owner == run.owner.owner);
        CHECK_FALSE(line.paid.is_zero());
        paid.insert(line.node);
    }
    CHECK(paid == std::set<PublicKey>{processor, card});
    CHECK_FALSE(
        contracts::read_miner(network.state(), run.owner.node));  // the home's own key works for nobody
    for (const PublicKey& node : paid)
        CHECK(contracts::read_node_key(network.state(), node)->owner == run.owner.owner);
}

}  // namespace assay::tests
