// SPDX-License-Identifier: Apache-2.0
// Gives commands a local network that stays: `assay devnet up` and `assay devnet down`.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "node/devnet/network.hpp"

namespace assay::node {

/// Keeps a new network of `plan` running until stopped, or until one of its processes ends (kFailure with
/// the end of its log). `ready` is called once, when every miner and verifier has staked, so that the next
/// job finds them. HOME/devnet.pid names this process meanwhile.
base::Outcome<void> keep_network_up(const DevnetPlan& plan, std::stop_token stop,
                                    const std::function<void(const Devnet&, const Network&)>& ready);

/// Asks the process in HOME/devnet.pid to end and waits for it. kNotFound when no network runs there.
base::Outcome<void> bring_network_down(const Home& home);

}  // namespace assay::node
