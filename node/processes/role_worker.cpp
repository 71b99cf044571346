// SPDX-License-Identifier: Apache-2.0
#include "node/processes/role_worker.hpp"

#include "node/runtime/log.hpp"

namespace assay::node {

base::Outcome<std::unique_ptr<RoleWorker>> RoleWorker::start(const WorkerOptions& worker,
                                                             const std::vector<std::string>& devices) {
    std::unique_ptr<RoleWorker> role(new RoleWorker(worker));
    if (devices.size() > 1) {
        ASSAY_ASSIGN(
            auto fleet,
            WorkerFleet::start({.worker = worker, .devices = devices, .tell = [](const base::Error& what) {
                                    log_warn(what.what + (what.fix.empty() ? "" : "; " + what.fix));
                                }}));
        role->fleet_ = fleet.get();
        role->client_ = std::move(fleet);
        return role;
    }
    if (!devices.empty()) role->worker_.device = devices.front();
    ASSAY_ASSIGN(role->client_, WorkerProcess::start(role->worker_));
    return role;
}

std::vector<RoleWorker::CheckedDevice> RoleWorker::all() const {
    if (fleet_ == nullptr) return {{worker_, client_->hello().targets}};
    std::vector<CheckedDevice> all;
    for (const WorkerFleet::Member& member : fleet_->members()) {
        CheckedDevice one{worker_, member.hello.targets};
        one.options.device = member.device;
        // Targets are the processor's kernels.
        if (member.device != "cpu") one.targets.resize(1);
        all.push_back(std::move(one));
    }
    return all;
}

base::Outcome<void> RoleWorker::check(const std::stop_token& stop) {
    for (const CheckedDevice& one : all()) {
        const auto checked = check_targets(one.options, one.targets, stop);
        if (checked.ok()) continue;
        const bool differs = checked.error().kind == base::ErrorKind::kPreflight;
        if (differs && fleet_ != nullptr && fleet_->distrust(one.options.device, checked.error())) continue;
        return checked;
    }
    return {};
}

void RoleWorker::watch(std::chrono::milliseconds interval, std::function<void(base::Error)> fault) {
    for (const CheckedDevice& one : all()) {
        checks_.emplace_back(one.options, one.targets, interval,
                             [this, device = one.options.device, fault](const base::Error& why) {
                                 if (fleet_ == nullptr || !fleet_->distrust(device, why)) fault(why);
                             });
    }
}

}  // namespace assay::node
