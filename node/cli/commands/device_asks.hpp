// SPDX-License-Identifier: Apache-2.0
// Gives `assay miner run --node-per-device` the ask of each device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/cli/commands/role_flags.hpp"

namespace assay::node {

/// Parses --ask into a price for each of `devices`, by name: prices separated by commas, each for one device
/// ("cuda:0=900u,cuda:1=700u") or, without a name, for all others. kUsage for a malformed price, a device
/// that is not in the list or has two prices, and a device without a price.
base::Outcome<std::map<std::string, base::Amount>> device_asks(const std::string& text,
                                                               const std::vector<std::string>& devices);

}  // namespace assay::node
