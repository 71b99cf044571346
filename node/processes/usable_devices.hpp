// SPDX-License-Identifier: Apache-2.0
// Gives whoever starts a miner for each device the devices that pass their self-test.
#pragma once

#include <string>
#include <vector>

#include "node/runtime/home.hpp"
#include "node/worker/worker_options.hpp"

namespace assay::node {

/// Those of `devices` whose worker starts, in their order: each is started and ended again. The others are
/// told in the log and left out, as by WorkerFleet::start; one with other bits is noted in its home below
/// `home`, where it has one, for the next process there. Where none is left, the first one's error.
base::Outcome<std::vector<std::string>> usable_devices(const Home& home, const WorkerOptions& worker,
                                                       const std::vector<std::string>& devices);

}  // namespace assay::node
