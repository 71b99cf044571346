// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/network.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <deque>
#include <fstream>
#include <thread>

#include "node/processes/node_process.hpp"
#include "node/roles/drill_spec.hpp"
#include "node/rpc/client.hpp"
#include "node/rpc/tls.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using namespace std::chrono_literals;

namespace {

constexpr base::Amount kMinerStake = base::units(100 * base::kUnitsPerToken);
constexpr base::Amount kVerifierStake = base::units(100 * base::kUnitsPerToken);

std::string text_of(base::Amount amount) { return std::to_string(amount.units()) + "u"; }

}  // namespace

std::string log_tail(const Home& home, const std::string& name, std::size_t lines) {
    std::ifstream file(home.logs() / (name + ".log"));
    std::deque<std::string> last;
    for (std::string line; std::getline(file, line);) {
        last.push_back(line);
        if (last.size() > lines) last.pop_front();
    }
    std::string text;
    for (const std::string& line : last) text += "    " + line + "\n";
    return text;
}

base::Outcome<void> Network::spawn(const std::string& name, const Home& home,
                                   std::vector<std::string> arguments) {
    ProcessOptions options;
    options.program = program_;
    options.arguments = std::move(arguments);
    // One thread each: the network's workers share the machine's cores.
    options.environment = {{"ASSAY_THREADS", "1"}};
    // It is on loopback, without certificates, whatever the caller's own network asks for.
    for (const char* file : {"ASSAY_TLS_CERT", "ASSAY_TLS_KEY", "ASSAY_TLS_CA"})
        options.environment.emplace_back(file, "");
    options.stdout_file = home.logs() / (name + ".log");
    options.stderr_file = options.stdout_file;
    launched_.insert_or_assign(name, std::move(options));
    return launch(name);
}

base::Outcome<void> Network::launch(const std::string& name) {
    ASSAY_ASSIGN(Process process, Process::spawn(launched_.at(name)));
    processes_.insert_or_assign(name, std::move(process));
    return {};
}

base::Outcome<void> Network::restart(const std::string& name) {
    const auto found = processes_.find(name);
    if (found == processes_.end()) return fail(ErrorKind::kNotFound, "no process called " + name);
    if (!found->second.poll()) (void)found->second.kill();
    if (name == "node") {
        // Everybody was told this address; port 0 would choose another.
        auto& arguments = launched_.at(name).arguments;
        const auto listen = std::find(arguments.begin(), arguments.end(), "--listen");
        ASSAY_CHECK(listen != arguments.end());
        *std::next(listen) = node_address_;
    }
    return launch(name);
}

std::vector<std::string> Network::common_flags(const Participant& participant) const {
    std::vector<std::string> flags{"--home",
                                   participant.home.root.string(),
                                   "--node",
                                   told_address_,
                                   "--genesis",
                                   (net_->sequencer.home.ledger() / "genesis.bin").string(),
                                   "--passphrase-file",
                                   net_->passphrase.string()};
    if (const auto meter = meters_.find(participant.name); meter != meters_.end()) {
        flags.insert(flags.end(),
                     {"--listen", meter->second.port.address(), "--announce", meter->second.relay->address(),
                      "--traffic", traffic_file(participant.home).string()});
    }
    return flags;
}

std::filesystem::path Network::traffic_file(const Home& home) { return home.logs() / "traffic"; }

base::Outcome<void> Network::set_up_meters() {
    ASSAY_ASSIGN(const HostPort node, parse_host_port(node_address_));
    ASSAY_ASSIGN(ledger_relay_, Relay::start(node.port));
    told_address_ = ledger_relay_->address();
    std::vector<Participant> serving;
    for (std::size_t i = 0; i < net_->miners.size(); ++i) {
        if (!net_->plan.miners[i].outward) serving.push_back(net_->miners[i]);
    }
    serving.insert(serving.end(), net_->verifiers.begin(), net_->verifiers.end());
    serving.push_back(net_->buyer);
    for (const Participant& one : serving) {
        ASSAY_ASSIGN(ReservedPort port, ReservedPort::take("127.0.0.1:0"));
        ASSAY_ASSIGN(const HostPort at, parse_host_port(port.address()));
        ASSAY_ASSIGN(auto relay, Relay::start(at.port));
        meters_.emplace(one.name, Meter{std::move(port), std::move(relay)});
    }
    return {};
}

RelayCounts Network::relayed_to_ledger() const {
    return ledger_relay_ ? ledger_relay_->counts() : RelayCounts{};
}

RelayCounts Network::relayed_to_blobs() const {
    RelayCounts sum;
    for (const auto& [name, meter] : meters_) {
        const RelayCounts one = meter.relay->counts();
        sum.connections += one.connections;
        sum.to_target += one.to_target;
        sum.from_target += one.from_target;
    }
    return sum;
}

namespace {
// All of them are on one machine: what a worker checks when it starts is enough for it.
const std::array<std::string, 2> kOneCheck{"--self-check", "0"};

std::vector<std::string> node_words(const Devnet& net) {
    std::vector<std::string> words{"node",
                                   "run",
                                   "--home",
                                   net.sequencer.home.root.string(),
                                   "--listen",
                                   net.plan.listen,
                                   "--passphrase-file",
                                   net.passphrase.string(),
                                   "--block-interval-ms",
                                   std::to_string(net.plan.block_interval_ms)};
    if (net.plan.clock_offset_ms != 0)
        words.insert(words.end(), {"--drill-clock-ms", std::to_string(net.plan.clock_offset_ms)});
    if (net.plan.drops_moves_of)
        words.insert(words.end(),
                     {"--drill-drop-moves", net.verifiers.at(*net.plan.drops_moves_of).node.hex()});
    return words;
}
}  // namespace

base::Outcome<Network> Network::start(const Devnet& net) {
    Network network;
    network.net_ = &net;
    if (net.plan.program.empty()) {
        ASSAY_ASSIGN(network.program_, own_program());
    } else {
        network.program_ = net.plan.program;
    }
    const Home& home = net.sequencer.home;
    ASSAY_TRY(network.spawn("node", home, node_words(net)));
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (network.node_address_.empty()) {
        std::ifstream(address_file(home)) >> network.node_address_;
        if (const auto ended = network.poll("node")) {
            return fail(ErrorKind::kFailure,
                        "the ledger node ended (" + to_text(*ended) + "):\n" + log_tail(home, "node", 5));
        }
        if (std::chrono::steady_clock::now() > give_up) {
            return fail(ErrorKind::kUnreachable,
                        "the ledger node did not start within 20 s:\n" + log_tail(home, "node", 5));
        }
        std::this_thread::sleep_for(20ms);
    }
    ClientOptions client;
    client.address = network.node_address_;
    ASSAY_TRY(wait_until_healthy(client, 20s));
    network.told_address_ = network.node_address_;
    if (net.plan.metered) ASSAY_TRY(network.set_up_meters());
    for (std::size_t i = 0; i < net.verifiers.size(); ++i) {
        const Participant& verifier = net.verifiers[i];
        std::vector<std::string> arguments{"verifier", "run", "--stake", text_of(kVerifierStake)};
        if (const auto found = net.plan.verifier_misconducts.find(i);
            found != net.plan.verifier_misconducts.end()) {
            arguments.insert(arguments.end(), {"--drill", std::string(to_text(found->second))});
            if (needs_accomplice(found->second))
                arguments.insert(arguments.end(), {"--accomplice", net.miners.front().home.root.string()});
        }
        if (const auto more = net.plan.verifier_flags.find(i); more != net.plan.verifier_flags.end())
            arguments.insert(arguments.end(), more->second.begin(), more->second.end());
        arguments.insert(arguments.end(), kOneCheck.begin(), kOneCheck.end());
        const auto flags = network.common_flags(verifier);
        arguments.insert(arguments.end(), flags.begin(), flags.end());
        ASSAY_TRY(network.spawn(verifier.name, verifier.home, std::move(arguments)));
    }
    for (std::size_t i = 0; i < net.miners.size(); ++i) {
        const MinerPlan& plan = net.plan.miners[i];
        std::vector<std::string> arguments{"miner",          "run", "--stake", text_of(kMinerStake), "--ask",
                                           text_of(plan.ask)};
        for (const PlannedDrill& drill : plan.drills) {
            arguments.insert(arguments.end(), {"--drill", to_text(drill)});
        }
        arguments.insert(arguments.end(), kOneCheck.begin(), kOneCheck.end());
        arguments.insert(arguments.end(), plan.flags.begin(), plan.flags.end());
        if (plan.outward) arguments.emplace_back("--outward");
        if (!plan.device.empty()) arguments.insert(arguments.end(), {"--device", plan.device});
        for (const Misconduct conduct : plan.conducts) {
            arguments.insert(arguments.end(), {"--drill", std::string(to_text(conduct))});
        }
        const auto flags = network.common_flags(net.miners[i]);
        arguments.insert(arguments.end(), flags.begin(), flags.end());
        ASSAY_TRY(network.spawn(net.miners[i].name, net.miners[i].home, std::move(arguments)));
    }
    return network;
}

std::optional<ExitStatus> Network::poll(const std::string& name) {
    const auto found = processes_.find(name);
    if (found == processes_.end()) return std::nullopt;
    return found->second.poll();
}

base::Outcome<void> Network::signal(const std::string& name, int number) {
    const auto found = processes_.find(name);
    if (found == processes_.end()) return fail(ErrorKind::kNotFound, "no process called " + name);
    found->second.signal(number);
    return {};
}

std::map<std::string, pid_t> Network::processes() const {
    std::map<std::string, pid_t> pids;
    for (const auto& [name, process] : processes_) pids.emplace(name, process.pid());
    return pids;
}

std::vector<std::pair<std::string, ExitStatus>> Network::casualties() {
    std::vector<std::pair<std::string, ExitStatus>> ended;
    for (auto& [name, process] : processes_) {
        if (const auto status = process.poll()) ended.emplace_back(name, *status);
    }
    return ended;
}

void Network::stop() {
    for (auto& [name, process] : processes_) {
        if (name != "node" && !process.poll()) process.signal(SIGTERM);
    }
    for (auto& [name, process] : processes_) {
        // Asked once: a second signal ends a process as it is, and one that is metered has counts to write.
        if (name != "node" && !process.wait(meters_.empty() ? 3s : 30s)) (void)process.kill();
    }
    if (const auto node = processes_.find("node"); node != processes_.end()) {
        (void)node->second.terminate(5s);
    }
    processes_.clear();
}

}  // namespace assay::node
