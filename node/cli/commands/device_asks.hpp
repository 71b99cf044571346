// SPDX-License-Identifier: Apache-2.0
// Gives `assay miner run --node-per-device` the ask of each device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/cli/commands/role_flags.hpp"

namespace assay::node {

/// What --ask says of each of `devices`, by its name: prices with commas, each of one device
/// ("cuda:0=900u,cuda:1=700u") or, without a name, of all others. kUsage for a price that is none, a device
/// that is not in the list or has two prices, and one that is left without.
base::Outcome<std::map<std::string, base::Amount>> device_asks(const std::string& text,
                                                               const std::vector<std::string>& devices);

}  // namespace assay::node
