// SPDX-License-Identifier: Apache-2.0
// Gives demo and scenarios Network, the processes of a local network: one ledger node, verifiers and miners,
// each the built `assay` program with its own home.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/devnet/plan.hpp"
#include "node/devnet/relay.hpp"
#include "node/rpc/port.hpp"
#include "node/runtime/process.hpp"

namespace assay::node {

/// Ends its processes on destruction. Spawn and destroy on the same thread (Process).
class Network {
public:
    /// Starts the ledger node, waits until it answers, then starts verifiers and miners.
    static base::Outcome<Network> start(const Devnet& net);

    [[nodiscard]] const std::string& node_address() const { return node_address_; }

    /// Starts one more process: `arguments` follow the program's name. Logs to HOME/logs/NAME.log.
    base::Outcome<void> spawn(const std::string& name, const Home& home, std::vector<std::string> arguments);

    /// Kills the process with SIGKILL if it still runs, then starts the same program with the same arguments;
    /// the ledger node gets its old address. Does not wait until it answers. kNotFound when there is no such
    /// process.
    base::Outcome<void> restart(const std::string& name);

    /// Flags that every participant needs: --home, --node, --genesis, --passphrase-file.
    [[nodiscard]] std::vector<std::string> common_flags(const Participant& participant) const;

    /// How a process ended; nothing while it runs.
    std::optional<ExitStatus> poll(const std::string& name);
    /// Sends the signal; kNotFound when there is no such process.
    base::Outcome<void> signal(const std::string& name, int number);
    [[nodiscard]] std::map<std::string, pid_t> processes() const;

    /// Names of the processes that ended by themselves, and how they ended.
    std::vector<std::pair<std::string, ExitStatus>> casualties();

    /// Ends all of them, the ledger node last.
    void stop();

    /// The file in which a metered process writes, at its end, what it sent and received.
    [[nodiscard]] static std::filesystem::path traffic_file(const Home& home);
    /// Bytes between the processes of a metered network up to now, by kind of server.
    [[nodiscard]] RelayCounts relayed_to_ledger() const;
    [[nodiscard]] RelayCounts relayed_to_blobs() const;

private:
    /// A blob service on a port that we chose, and the relay through which others reach it.
    struct Meter {
        ReservedPort port;
        std::unique_ptr<Relay> relay;
    };
    base::Outcome<void> set_up_meters();
    base::Outcome<void> launch(const std::string& name);

    const Devnet* net_ = nullptr;
    std::filesystem::path program_;
    std::string node_address_;
    std::string told_address_;  ///< the ledger node's address that its processes get
    std::unique_ptr<Relay> ledger_relay_;
    std::map<std::string, Meter> meters_;             ///< by the name of the process that serves behind it
    std::map<std::string, ProcessOptions> launched_;  ///< how to start each of them once more
    std::map<std::string, Process> processes_;
};

/// The last `lines` lines of a process's log, for error messages.
std::string log_tail(const Home& home, const std::string& name, std::size_t lines);

}  // namespace assay::node
