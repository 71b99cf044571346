// SPDX-License-Identifier: Apache-2.0
// Gives commands a local network that stays: `assay devnet up` and `assay devnet down`.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "node/devnet/network.hpp"

namespace assay::node {

/// Who hears of a network that stays, on the thread that keeps it.
struct NetworkHeard {
    /// Called once, when every miner and verifier has staked, so that the next job finds them.
    std::function<void(const Devnet&, const Network&)> ready;
    /// Called after that, with the name of each miner or verifier that ended with exit code 0, as a drained
    /// miner does.
    std::function<void(const std::string& name)> left;
};

/// Keeps a new network of `plan` running until stopped, or until its ledger node ends, or another of its
/// processes with anything but exit code 0, or at all before everybody has staked (kFailure with the end of
/// its log). HOME/devnet.pid names this process meanwhile.
base::Outcome<void> keep_network_up(const DevnetPlan& plan, std::stop_token stop, const NetworkHeard& heard);

/// Asks the process in HOME/devnet.pid to end and waits for it. kNotFound when no network runs there.
base::Outcome<void> bring_network_down(const Home& home);

}  // namespace assay::node
