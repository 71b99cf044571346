// SPDX-License-Identifier: Apache-2.0
// Gives servers FairPool, threads that serve callers in turn, so that a caller with many requests delays only
// itself. Internal to node/rpc.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace assay::node {

/// Thread-safe. The admitted calls (open_calls.hpp) bound what waits, since each waits for at most one piece
/// of work.
class FairPool {
public:
    explicit FairPool(int threads);
    /// Runs what still waits, then returns.
    ~FairPool();
    FairPool(const FairPool&) = delete;
    FairPool& operator=(const FairPool&) = delete;

    /// Runs `work` on one of the threads: one caller's work in order of arrival, callers in turn.
    void add(const std::string& caller, std::function<void()> work);

private:
    void run();

    std::mutex mutex_;
    std::condition_variable wake_;
    std::map<std::string, std::deque<std::function<void()>>> waiting_;  ///< no empty queues
    std::deque<std::string> turns_;                                     ///< the callers of waiting_
    bool ending_ = false;
    std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace assay::node
