// SPDX-License-Identifier: Apache-2.0
// Gives `assay miner run --node-per-device` a miner for each device: a process of this program with its own
// home, node key, stake and ask, and the home's owner.
#pragma once

#include <stop_token>
#include <string>

#include "node/cli/commands/role_flags.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace assay::node {

/// The command's flags that differ between devices. All others are passed on as they were given.
struct DeviceMinersFlags {
    RoleFlags role;
    std::string ask;
};

/// Makes the homes that are missing, and runs the miners until all have ended or `stop`. `command`: `miner
/// run` as it was parsed. A device that fails its self-test is logged and left out. Errors: kKey when the
/// home has no node key; kUsage; those of usable_devices and of run_side_by_side.
base::Outcome<void> run_device_miners(const Context& context, const CLI::App& command,
                                      const DeviceMinersFlags& flags, const std::stop_token& stop);

}  // namespace assay::node
