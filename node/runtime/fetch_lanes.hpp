// SPDX-License-Identifier: Apache-2.0
// Gives the blob port FetchLanes, a bounded pool of threads with a queue for each lane. Internal to
// node/runtime.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace assay::node {

/// Runs the work of one lane in order, one at a time. Different lanes run in parallel, each on the next free
/// thread, the lane that has waited longest first. Threads are made when needed, at most `most`. The
/// destructor asks running work to stop and waits for it, and drops work that has not begun. add() is
/// thread-safe.
class FetchLanes {
public:
    using Work = std::function<void(const std::stop_token&)>;

    explicit FetchLanes(std::size_t most) : most_(most) {}
    ~FetchLanes();
    FetchLanes(const FetchLanes&) = delete;
    FetchLanes& operator=(const FetchLanes&) = delete;

    void add(const std::string& lane, Work work);

private:
    void run();

    std::size_t most_;
    std::stop_source stop_;
    std::mutex mutex_;  ///< guards all below
    std::condition_variable_any wake_;
    std::map<std::string, std::deque<Work>> lanes_;  ///< lanes that wait or run, with the work that has not
                                                     ///< begun
    std::deque<std::string> ready_;                  ///< lanes that wait for a thread
    std::size_t idle_ = 0;                           ///< threads
    std::vector<std::jthread> threads_;
};

}  // namespace assay::node
