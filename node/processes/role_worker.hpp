// SPDX-License-Identifier: Apache-2.0
// Gives a role's process RoleWorker: one worker, or one for each of several devices, and the checks of each
// device against known vectors.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "node/worker/self_check.hpp"
#include "node/worker/worker_fleet.hpp"

namespace assay::node {

class RoleWorker {
public:
    /// Starts a worker for each of several devices (WorkerFleet). Otherwise starts one worker, on the device
    /// in the list, or on the one that `worker` names when the list is empty. Errors: those of
    /// WorkerFleet::start and WorkerProcess::start.
    static base::Outcome<std::unique_ptr<RoleWorker>> start(const WorkerOptions& worker,
                                                            const std::vector<std::string>& devices);

    [[nodiscard]] WorkerClient& client() { return *client_; }

    /// After start() was refused: those of its devices whose self-test gives wrong bits, by the names that
    /// answers use. A device that is missing or lacks memory is not among them.
    static std::vector<std::string> unsound_of(const WorkerOptions& worker,
                                               const std::vector<std::string>& devices);

    /// Checks every kernel target of every device once. With several devices, those with wrong bits are put
    /// out of use. kPreflight when none is left; kInterrupted when stopped.
    base::Outcome<void> check(const std::stop_token& stop);
    /// Devices that gave wrong bits in the self-test of start() or in check(), including the last device. An
    /// earlier process of this home may have worked on them.
    [[nodiscard]] const std::vector<std::string>& unsound() const { return unsound_; }
    /// Called with a device that gave wrong bits and, if it was the last one, with the error to end with.
    using Fault = std::function<void(const std::string& device, std::optional<base::Error> end)>;
    /// Checks each device again and again, as SelfCheck does, until stop_watching() or destruction. `fault`
    /// is called from the checks' threads, at most once for each device.
    void watch(std::chrono::milliseconds interval, const Fault& fault);
    void stop_watching() { checks_.clear(); }

private:
    explicit RoleWorker(WorkerOptions worker) : worker_(std::move(worker)) {}
    struct CheckedDevice {
        WorkerOptions options;
        std::vector<std::string> targets;
    };
    [[nodiscard]] std::vector<CheckedDevice> all() const;

    WorkerOptions worker_;
    std::unique_ptr<WorkerClient> client_;
    WorkerFleet* fleet_ = nullptr;  ///< the client, when there are several devices
    std::vector<std::string> unsound_;
    std::list<SelfCheck> checks_;  // last: they use the rest
};

}  // namespace assay::node
