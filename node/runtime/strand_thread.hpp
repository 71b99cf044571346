// SPDX-License-Identifier: Apache-2.0
// Gives ports StrandThread, a thread with a queue for calls that block. Internal to node/runtime.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

namespace assay::node {

/// Runs work in the order in which it was added. The destructor asks running work to stop and waits for it,
/// and drops work that has not begun. add() is thread-safe.
class StrandThread {
public:
    StrandThread();
    ~StrandThread();
    StrandThread(const StrandThread&) = delete;
    StrandThread& operator=(const StrandThread&) = delete;

    void add(std::function<void(const std::stop_token&)> work);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace assay::node
