// SPDX-License-Identifier: Apache-2.0
// Gives the processes of miners and verifiers the check of this machine's kernels against known vectors, on
// every target that it has, before it asks for work and again while it works. A participant whose machine
// computes wrong bits loses its bond.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "node/worker/worker_process.hpp"

namespace assay::node {

/// Default time between two checks of a process at work.
inline constexpr std::chrono::minutes kSelfCheckInterval{60};

/// Runs the worker's self-test on each target in its own process. `targets`: as the worker's Hello names
/// them. Errors: kPreflight, which names the first target that fails, or the device when one program serves
/// all targets; kNotFound without a worker program; kInterrupted when stopped.
base::Outcome<void> check_targets(const WorkerOptions& options, const std::vector<std::string>& targets,
                                  const std::stop_token& stop = {});

/// Checks the targets once in every `interval` until it is destroyed. The checks are processes of lower
/// priority than the worker (10 more in niceness), so that they delay no unit by much. `fault` is called
/// once, from this object's thread, with the first target that fails; after that nothing more is checked. A
/// check that could not be run (no memory for a process) is repeated an interval later.
class SelfCheck {
public:
    SelfCheck(WorkerOptions options, std::vector<std::string> targets, std::chrono::milliseconds interval,
              std::function<void(base::Error)> fault);
    ~SelfCheck() = default;  // stops the thread and waits for it
    SelfCheck(const SelfCheck&) = delete;
    SelfCheck& operator=(const SelfCheck&) = delete;

private:
    void watch(const std::stop_token& stop);

    const WorkerOptions options_;
    const std::vector<std::string> targets_;
    const std::chrono::milliseconds interval_;
    const std::function<void(base::Error)> fault_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;  // last: it uses the others
};

}  // namespace assay::node
