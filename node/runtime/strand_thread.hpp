// SPDX-License-Identifier: Apache-2.0
// Inside node/runtime: a thread with a queue, for calls that block.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace assay::node {

/// Does what it is given, in order. Its destructor drops what has not begun and waits for what has.
class StrandThread {
public:
    StrandThread() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

    void add(std::function<void(const std::stop_token&)> work) {
        {
            const std::lock_guard lock(mutex_);
            queue_.push_back(std::move(work));
        }
        wake_.notify_one();
    }

private:
    void run(const std::stop_token& stop) {
        while (true) {
            std::function<void(const std::stop_token&)> work;
            {
                std::unique_lock lock(mutex_);
                if (!wake_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
                if (stop.stop_requested()) return;
                work = std::move(queue_.front());
                queue_.pop_front();
            }
            work(stop);
        }
    }

    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::deque<std::function<void(const std::stop_token&)>> queue_;
    std::jthread thread_;  // last: it uses everything above
};

}  // namespace assay::node
