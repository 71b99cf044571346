// SPDX-License-Identifier: Apache-2.0
// A ledger node whose clock is off: roles say so, and follow its blocks when their own clock has come near.
#include <fstream>
#include <iterator>

#include "node/devnet/stay_up.hpp"
#include "node/roles/live_blocks.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

namespace {

using namespace std::chrono_literals;

bool has_line(const node::Participant& who, const std::string& words) {
    std::ifstream file(who.home.logs() / (who.name + ".log"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.find(words) != std::string::npos;
}

/// Whether every role has said it, at the latest after a minute.
bool all_say(const node::Devnet& net, const std::string& words) {
    const auto give_up = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < give_up) {
        bool all = true;
        for (const auto* group : {&net.miners, &net.verifiers}) {
            for (const node::Participant& who : *group) all = all && has_line(who, words);
        }
        if (all) return true;
        std::this_thread::sleep_for(100ms);
    }
    return false;
}

node::DevnetPlan plan_with_clock(const std::filesystem::path& home, std::int64_t offset_ms) {
    node::DevnetPlan plan;
    plan.home = home;
    plan.miners = {honest_miner(500), honest_miner(500)};
    plan.verifiers = 2;
    plan.clock_offset_ms = offset_ms;
    plan.program = built_program("assay");
    return plan;
}

}  // namespace

TEST_CASE(
    "roles put off the blocks of a node whose clock is ahead, and follow them when theirs has come near") {
    const test::TemporaryFolder folder;
    const auto ahead = static_cast<std::int64_t>(node::kLiveWithinMs) + 8'000;
    const node::Devnet net = must(node::create_devnet(plan_with_clock(folder.path() / "net", ahead)));
    node::Network network = must(node::Network::start(net));
    CHECK(all_say(net, "is not followed yet: its time"));
    CHECK(all_say(net, "is followed now"));
    CHECK(network.casualties().empty());
    network.stop();
}

TEST_CASE("nobody minds a node whose clock is behind: its blocks are never live") {
    const test::TemporaryFolder folder;
    std::stop_source staked;
    bool ready = false;
    const node::NetworkHeard heard{.ready =
                                       [&](const node::Devnet& net, const node::Network&) {
                                           ready = true;
                                           for (const node::Participant& who : net.miners)
                                               CHECK_FALSE(has_line(who, "is not followed yet"));
                                           staked.request_stop();
                                       },
                                   .left = [](const std::string& name) { FAIL_CHECK(name << " ended"); }};
    must(
        node::keep_network_up(plan_with_clock(folder.path() / "net", -3'600'000), staked.get_token(), heard));
    CHECK(ready);
}

}  // namespace assay::tests
