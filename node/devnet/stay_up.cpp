// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/stay_up.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "contracts/rules/tables.hpp"
#include "node/rpc/client.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using namespace std::chrono_literals;

namespace {
std::filesystem::path pid_file(const Home& home) { return home.root / "devnet.pid"; }

// A process that ended but was not waited for by its parent still takes signals; its state is Z.
bool runs(pid_t pid) {
    if (::kill(pid, 0) != 0) return false;
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string stat;
    std::getline(file, stat);
    const std::size_t name_end = stat.rfind(')');
    return name_end == std::string::npos || name_end + 2 >= stat.size() || stat[name_end + 2] != 'Z';
}

// A stake that nobody answers for is none yet.
bool has_stake(LedgerService& ledger, const base::PublicKey& node) {
    const auto found = ledger.get(contracts::stake_key(node));
    if (!found.ok() || !found->value) return false;
    const auto stake = base::decode<contracts::Stake>(*found->value);
    return stake.ok() && !stake->free.is_zero();
}

bool everybody_staked(LedgerService& ledger, const Devnet& net) {
    for (const auto* group : {&net.miners, &net.verifiers}) {
        for (const Participant& who : *group) {
            if (!has_stake(ledger, who.node)) return false;
        }
    }
    return true;
}

/// Tells of each process that ended as it should, once: `left` has those that were told of. kFailure for the
/// first that ended otherwise, or before everybody had staked: who is gone by then may never stake.
base::Outcome<void> look_after(Network& network, const Devnet& net, bool all_staked,
                               std::set<std::string>& left, const NetworkHeard& heard) {
    for (const auto& [name, status] : network.casualties()) {
        const bool is_node = name == "node";
        if (is_node || !all_staked || !status.success()) {
            const Home home = is_node ? net.sequencer.home : Home{net.plan.home / name};
            return fail(ErrorKind::kFailure, name + " ended (" + to_text(status) + ")" +
                                                 (all_staked ? "" : " before everybody had staked") + ":\n" +
                                                 log_tail(home, name, 8));
        }
        if (left.insert(name).second) heard.left(name);
    }
    return {};
}
}  // namespace

base::Outcome<void> keep_network_up(const DevnetPlan& plan, std::stop_token stop, const NetworkHeard& heard) {
    ASSAY_ASSIGN(const Devnet net, create_devnet(plan));
    ASSAY_ASSIGN(Network network, Network::start(net));
    std::ofstream(pid_file(net.sequencer.home)) << getpid() << "\n";
    ASSAY_ASSIGN(const auto ledger, connect_ledger({.address = network.node_address(), .tls = {}}));
    bool announced = false;
    std::set<std::string> left;
    base::Outcome<void> result;
    while (!stop.stop_requested()) {
        if (!announced && everybody_staked(*ledger, net)) {
            heard.ready(net, network);
            announced = true;
        }
        result = look_after(network, net, announced, left, heard);
        if (!result.ok()) break;
        std::this_thread::sleep_for(100ms);
    }
    network.stop();
    std::error_code ignored;
    std::filesystem::remove(pid_file(net.sequencer.home), ignored);
    return result;
}

base::Outcome<void> bring_network_down(const Home& home) {
    pid_t pid = 0;
    std::ifstream(pid_file(home)) >> pid;
    if (pid <= 0 || ::kill(pid, SIGTERM) != 0) {
        return fail(ErrorKind::kNotFound, "no local network runs in " + home.root.string(),
                    "start one with: assay devnet up");
    }
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < give_up) {
        if (!runs(pid)) return {};
        std::this_thread::sleep_for(50ms);
    }
    return fail(ErrorKind::kUnreachable, "process " + std::to_string(pid) + " did not end within 20 s",
                "end it with: kill -9 " + std::to_string(pid));
}

}  // namespace assay::node
