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
    /// No more than one device: the one that `worker` names, or the one in the list. Errors as of
    /// WorkerProcess::start and WorkerFleet::start.
    static base::Outcome<std::unique_ptr<RoleWorker>> start(const WorkerOptions& worker,
                                                            const std::vector<std::string>& devices);

    [[nodiscard]] WorkerClient& client() { return *client_; }

    /// Checks every kernel target of every device once. Of several devices those that fail are put out of
    /// use; kPreflight when none is left. kInterrupted when stopped.
    base::Outcome<void> check(const std::stop_token& stop);
    /// Goes on checking, as SelfCheck does, until it goes or stop_watching(). `fault` is called, from a
    /// thread of its own, when the last device fails.
    void watch(std::chrono::milliseconds interval, std::function<void(base::Error)> fault);
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
    std::list<SelfCheck> checks_;   // last: they use the rest
};

}  // namespace assay::node
