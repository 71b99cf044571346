// SPDX-License-Identifier: Apache-2.0
#include "node/processes/usable_devices.hpp"

#include <algorithm>
#include <filesystem>

#include "node/processes/device_homes.hpp"
#include "node/processes/role_worker.hpp"
#include "node/roles/unsound_notes.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/runtime/log.hpp"

namespace assay::node {

namespace {

// What a device with other bits trained for its node before is forgotten by the next process of that home.
base::Outcome<void> note_in_homes(const Home& home, const WorkerOptions& worker,
                                  const std::vector<std::string>& refused) {
    for (const std::string& device : RoleWorker::unsound_of(worker, refused)) {
        const Home own = device_home(home, device);
        if (!std::filesystem::exists(own.node_key())) continue;
        ASSAY_ASSIGN(const auto notes, make_disk_port(own.jobs()));
        ASSAY_TRY(note_unsound(*notes, device));
    }
    return {};
}

}  // namespace

base::Outcome<std::vector<std::string>> usable_devices(const Home& home, const WorkerOptions& worker,
                                                       const std::vector<std::string>& devices) {
    const auto fleet =
        WorkerFleet::start({.worker = worker, .devices = devices, .tell = [](const base::Error& what) {
                                log_warn(what.what + (what.fix.empty() ? "" : "; " + what.fix));
                            }});
    std::vector<std::string> usable;
    if (fleet.ok())
        for (const WorkerFleet::Member& member : (*fleet)->members()) usable.push_back(member.device);
    std::vector<std::string> refused = devices;
    for (const std::string& device : usable) std::erase(refused, device);
    if (!refused.empty()) ASSAY_TRY(note_in_homes(home, worker, refused));
    if (!fleet.ok()) return base::failed(fleet.error());
    for (const std::string& device : refused) {
        const Home own = device_home(home, device);
        if (!std::filesystem::exists(own.node_key())) continue;
        log_warn("device " + device +
                 " is left out, and nobody answers for what its node has open; let another "
                 "device do that: assay miner drain --home " +
                 own.root.string() + ", then assay miner run --device cpu with that home");
    }
    return usable;
}

}  // namespace assay::node
