// SPDX-License-Identifier: Apache-2.0
#include "node/processes/role_worker.hpp"

#include <set>

#include "node/runtime/log.hpp"
#include "node/worker/worker_report.hpp"

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
        role->find_unsound(devices);
        return role;
    }
    if (!devices.empty()) role->worker_.device = devices.front();
    ASSAY_ASSIGN(role->client_, WorkerProcess::start(role->worker_));
    return role;
}

// A device that was refused at the start is not there, or has no memory, or has other bits.
void RoleWorker::find_unsound(const std::vector<std::string>& devices) {
    std::set<std::string> used;
    for (const WorkerFleet::Member& member : fleet_->members()) used.insert(member.device);
    for (const std::string& device : devices) {
        if (used.contains(device)) continue;
        WorkerOptions one = worker_;
        one.device = device;
        const auto tested = run_self_test(one);
        if (tested.ok() && !tested->sound) unsound_.push_back(device);
    }
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
        if (!differs || fleet_ == nullptr || !fleet_->distrust(one.options.device, checked.error()))
            return checked;
        unsound_.push_back(one.options.device);
    }
    return {};
}

void RoleWorker::watch(std::chrono::milliseconds interval, const Fault& fault) {
    for (const CheckedDevice& one : all()) {
        // As the worker's answers name it.
        const std::string device = one.options.device.empty() ? "cpu" : one.options.device;
        checks_.emplace_back(one.options, one.targets, interval,
                             [this, device, fault](const base::Error& why) {
                                 const bool left = fleet_ != nullptr && fleet_->distrust(device, why);
                                 fault(device, left ? std::nullopt : std::optional(why));
                             });
    }
}

}  // namespace assay::node
