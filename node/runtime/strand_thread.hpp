// SPDX-License-Identifier: Apache-2.0
// Gives ports a thread with a queue, for calls that block. Internal to node/runtime.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

namespace assay::node {

/// Does what it is given, in order. Its destructor asks what has begun to stop and waits for it, and drops
/// what has not begun. add() is thread-safe.
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
