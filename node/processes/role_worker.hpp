// SPDX-License-Identifier: Apache-2.0
// Gives a role's process what computes for it: one worker, or one for each of several devices, and the checks
// of each against known vectors.
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
    /// A worker for each of several devices (WorkerFleet). Else one worker: on the device in the list, or,
    /// where the list is empty, on the one that `worker` names. Errors as of WorkerFleet::start and
    /// WorkerProcess::start.
    static base::Outcome<std::unique_ptr<RoleWorker>> start(const WorkerOptions& worker,
                                                            const std::vector<std::string>& devices);

    [[nodiscard]] WorkerClient& client() { return *client_; }

    /// Those of the devices, as start() takes them, whose self-test gives other bits, by the names that
    /// answers have for them. Of a start that was refused: one that is not there, or has no memory, is not
    /// among them.
    static std::vector<std::string> unsound_of(const WorkerOptions& worker,
                                               const std::vector<std::string>& devices);

    /// Checks every kernel target of every device once. Of several devices those with other bits are put out
    /// of use; kPreflight when none is left. kInterrupted when stopped.
    base::Outcome<void> check(const std::stop_token& stop);
    /// Devices that gave other bits in the self-test of start() or in check(), the last one too: another
    /// process of this home may have worked on them before.
    [[nodiscard]] const std::vector<std::string>& unsound() const { return unsound_; }
    /// Told of a device with other bits, and, when it was the last one, of what there is to end for.
    using Fault = std::function<void(const std::string& device, std::optional<base::Error> end)>;
    /// Goes on checking each device, as SelfCheck does, until it goes or stop_watching(). `fault` is called
    /// from threads of their own, at most once for each device.
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
    WorkerFleet* fleet_ = nullptr;  ///< the client, where there are several devices
    std::vector<std::string> unsound_;
    std::list<SelfCheck> checks_;  // last: they use the rest
};

}  // namespace assay::node
