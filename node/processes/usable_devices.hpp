// SPDX-License-Identifier: Apache-2.0
// Gives the command that starts a miner for each device the devices that pass their self-test.
#pragma once

#include <string>
#include <vector>

#include "node/runtime/home.hpp"
#include "node/worker/worker_options.hpp"

namespace assay::node {

/// Returns those of `devices` whose worker starts, in their order; each worker is started and ended again.
/// The others are logged and left out, as by WorkerFleet::start. A device with wrong bits is noted in its own
/// home below `home`, if it has one, for the next process there. If none is left, returns the first device's
/// error.
base::Outcome<std::vector<std::string>> usable_devices(const Home& home, const WorkerOptions& worker,
                                                       const std::vector<std::string>& devices);

}  // namespace assay::node
