// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/device_miners.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <set>

#include "node/cli/commands/device_asks.hpp"
#include "node/cli/commands/role_memory.hpp"
#include "node/processes/device_homes.hpp"
#include "node/processes/side_by_side.hpp"
#include "node/processes/usable_devices.hpp"
#include "node/runtime/log.hpp"
#include "node/worker/device_list.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

/// Said anew for each device, or by the one that starts them alone.
const std::set<std::string> kOwnFlags = {"node-per-device", "device",          "ask",          "listen",
                                         "announce",        "traffic",         "genesis",      "owner-key",
                                         "memory",          "passphrase-file", "passphrase-fd"};

std::vector<std::string> flags_for_all(const CLI::App& command) {
    std::vector<std::string> words;
    for (const CLI::Option* option : command.get_options()) {
        if (option->count() == 0 || option->get_lnames().empty()) continue;
        const std::string& name = option->get_lnames().front();
        if (kOwnFlags.contains(name)) continue;
        for (const std::string& value : option->results()) {
            words.emplace_back("--");
            words.back().append(name).append("=").append(value);
        }
    }
    return words;
}

/// The address for the device at this place of --device: its port is so many higher.
base::Outcome<std::string> address_for(const std::string& flag, const std::string& text, std::size_t place) {
    ASSAY_ASSIGN(const HostPort parts, parse_host_port(text));
    if (parts.port == 0) return text;
    const std::size_t port = parts.port + place;
    if (port > std::numeric_limits<std::uint16_t>::max())
        return fail(ErrorKind::kUsage, flag + " " + text + " leaves no port for every device",
                    "give a lower port: each device has the next one");
    return text.substr(0, text.rfind(':') + 1) + std::to_string(port);
}

struct DevicePlan {
    std::string device;
    std::size_t place = 0;  ///< among those of --device
    base::Amount ask;
    std::string memory;  ///< of a step, so that all can keep together what their lots promise
};

base::Outcome<std::vector<std::string>> words_for(const Context& context, const DeviceMinersFlags& flags,
                                                  const DevicePlan& plan) {
    const Home home = device_home(context.home(), plan.device);
    const RoleFlags& role = flags.role;
    std::vector<std::string> words = context.node_words();
    words.insert(words.end(), {"--home", home.root.string(), "--device", plan.device, "--ask",
                               std::to_string(plan.ask.units()) + "u"});
    const std::string owner_key =
        role.owner_key.empty() ? context.home().owner_key().string() : role.owner_key;
    words.insert(words.end(), {"--owner-key", owner_key});
    words.insert(words.end(), {"--genesis", (context.home().ledger() / "genesis.bin").string()});
    if (role.listen != RoleFlags().listen) {
        ASSAY_ASSIGN(const std::string listen, address_for("--listen", role.listen, plan.place));
        words.insert(words.end(), {"--listen", listen});
    }
    if (!role.announce.empty()) {
        ASSAY_ASSIGN(const std::string announce, address_for("--announce", role.announce, plan.place));
        words.insert(words.end(), {"--announce", announce});
    }
    if (!role.traffic.empty())
        words.insert(words.end(), {"--traffic", role.traffic + "." + home.root.filename().string()});
    words.insert(words.end(), {"--memory", plan.memory});
    return words;
}

void warn_of_own_miner(const Home& home) {
    std::error_code error;
    if (!std::filesystem::exists(home.state()) || std::filesystem::is_empty(home.state(), error)) return;
    log_warn(
        "the miner of " + home.root.string() +
        " itself does not run now, and nobody answers for what it has open; if it was not drained, stop, "
        "let it end by `assay miner drain`, and start again after `assay miner resume`");
}

}  // namespace

base::Outcome<void> run_device_miners(const Context& context, const CLI::App& command,
                                      const DeviceMinersFlags& flags, const std::stop_token& stop) {
    ASSAY_ASSIGN(RoleProcessOptions options, role_options(context, flags.role, "miner run"));
    std::shared_ptr<const Passphrase> passphrase = std::move(options.passphrase.read);
    const Home& home = options.home;
    ASSAY_ASSIGN(const std::vector<std::string> devices,
                 device_list(flags.role.device.empty() ? "cpu" : flags.role.device, {}));
    ASSAY_ASSIGN(const auto asks, device_asks(flags.ask, devices));
    ASSAY_TRY(create_home(home));
    ASSAY_ASSIGN(const HomeLock lock, HomeLock::take(home, options.program));
    ASSAY_TRY(genesis_of(home, options.genesis));
    warn_of_own_miner(home);
    ASSAY_ASSIGN(const std::vector<std::string> usable, usable_devices(home, options.worker, devices));
    ASSAY_TRY(limit_memory(options.worker, flags.role.memory, usable.size()));
    std::vector<SideBySide> miners;
    for (std::size_t place = 0; place < devices.size(); ++place) {
        const std::string& device = devices[place];
        if (std::find(usable.begin(), usable.end(), device) == usable.end()) continue;
        ASSAY_TRY(make_device_home(home, device, *passphrase));
        ASSAY_ASSIGN(const auto words,
                     words_for(context, flags, {device, place, asks.at(device), options.worker.memory}));
        SideBySide miner{"the miner of " + device, {"miner", "run"}};
        const auto same = flags_for_all(command);
        miner.words.insert(miner.words.end(), same.begin(), same.end());
        miner.words.insert(miner.words.end(), words.begin(), words.end());
        miners.push_back(std::move(miner));
    }
    if (stop.stop_requested()) return {};
    return run_side_by_side(miners, std::move(passphrase), stop);
}

}  // namespace assay::node
