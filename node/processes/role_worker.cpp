// SPDX-License-Identifier: Apache-2.0
#include "node/processes/role_worker.hpp"

#include <set>

#include "node/runtime/log.hpp"
#include "node/worker/worker_report.hpp"

namespace assay::node {

namespace {
// As the worker's answers name it.
std::string named(const std::string& device) { return device.empty() ? "cpu" : device; }

// An operator who is not told takes a worker for more confined than it is. Devices lack the same things
// mostly.
void tell_lacks(const WorkerOptions& worker, const std::vector<std::string>& devices) {
    std::set<std::string> told;
    for (const std::string& device : devices) {
        WorkerOptions one = worker;
        one.device = device;
        const auto lacks = list_lacks(one);
        if (!lacks.ok()) continue;  // such a worker does not start, and says why
        for (const base::Error& lack : *lacks)
            if (told.insert(lack.what).second) log_warn(lack.what + "; " + lack.fix);
    }
}
}  // namespace

base::Outcome<std::unique_ptr<RoleWorker>> RoleWorker::start(const WorkerOptions& worker,
                                                             const std::vector<std::string>& devices) {
    std::unique_ptr<RoleWorker> role(new RoleWorker(worker));
    tell_lacks(worker, devices.empty() ? std::vector{worker.device} : devices);
    if (devices.size() > 1) {
        ASSAY_ASSIGN(
            auto fleet,
            WorkerFleet::start({.worker = worker, .devices = devices, .tell = [](const base::Error& what) {
                                    log_warn(what.what + (what.fix.empty() ? "" : "; " + what.fix));
                                }}));
        role->fleet_ = fleet.get();
        role->client_ = std::move(fleet);
        std::vector<std::string> refused = devices;
        for (const WorkerFleet::Member& member : role->fleet_->members()) std::erase(refused, member.device);
        if (!refused.empty()) role->unsound_ = unsound_of(worker, refused);
        return role;
    }
    if (!devices.empty()) role->worker_.device = devices.front();
    ASSAY_ASSIGN(role->client_, WorkerProcess::start(role->worker_));
    return role;
}

std::vector<std::string> RoleWorker::unsound_of(const WorkerOptions& worker,
                                                const std::vector<std::string>& devices) {
    std::vector<std::string> unsound;
    for (const std::string& device : devices.empty() ? std::vector{worker.device} : devices) {
        WorkerOptions one = worker;
        one.device = device;
        const auto tested = run_self_test(one);
        if (tested.ok() && !tested->sound) unsound.push_back(named(device));
    }
    return unsound;
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
        if (differs) unsound_.push_back(named(one.options.device));
        if (!differs || fleet_ == nullptr || !fleet_->distrust(one.options.device, checked.error()))
            return checked;
    }
    return {};
}

void RoleWorker::watch(std::chrono::milliseconds interval, const Fault& fault) {
    for (const CheckedDevice& one : all()) {
        const std::string device = named(one.options.device);
        checks_.emplace_back(one.options, one.targets, interval,
                             [this, device, fault](const base::Error& why) {
                                 const bool left = fleet_ != nullptr && fleet_->distrust(device, why);
                                 fault(device, left ? std::nullopt : std::optional(why));
                             });
    }
}

}  // namespace assay::node
