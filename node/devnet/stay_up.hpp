// SPDX-License-Identifier: Apache-2.0
// Gives `assay devnet up` and `assay devnet down` a local network that keeps running.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "node/devnet/network.hpp"

namespace assay::node {

/// Callbacks of a network that keeps running, called on the thread that keeps it.
struct NetworkHeard {
    /// Called once, when every miner and verifier has staked, so that the next job finds them.
    std::function<void(const Devnet&, const Network&)> ready;
    /// Called after that, with the name of each miner or verifier that ended with exit code 0, as a drained
    /// miner does.
    std::function<void(const std::string& name)> left;
};

/// Keeps a new network of `plan` running until stopped. kFailure, with the end of the log, when its ledger
/// node ends, when another process ends with an exit code other than 0, or when any process ends before
/// everybody has staked. HOME/devnet.pid names this process meanwhile.
base::Outcome<void> keep_network_up(const DevnetPlan& plan, std::stop_token stop, const NetworkHeard& heard);

/// Asks the process in HOME/devnet.pid to end and waits for it. kNotFound when no network runs there.
base::Outcome<void> bring_network_down(const Home& home);

}  // namespace assay::node
