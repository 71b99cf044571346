// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/fetch_lanes.hpp"

#include <utility>

namespace assay::node {

FetchLanes::~FetchLanes() {
    stop_.request_stop();
    for (std::jthread& thread : threads_) thread.join();
}

void FetchLanes::add(const std::string& lane, Work work) {
    const std::lock_guard lock(mutex_);
    const auto [place, fresh] = lanes_.try_emplace(lane);
    place->second.push_back(std::move(work));
    if (!fresh) return;  // it waits or runs already
    ready_.push_back(lane);
    if (idle_ < ready_.size() && threads_.size() < most_) {
        threads_.emplace_back([this] { run(); });
    }
    wake_.notify_one();
}

void FetchLanes::run() {
    const std::stop_token stop = stop_.get_token();
    std::unique_lock lock(mutex_);
    while (true) {
        ++idle_;
        const bool woken = wake_.wait(lock, stop, [this] { return !ready_.empty(); });
        --idle_;
        if (!woken || stop.stop_requested()) return;
        const std::string lane = std::move(ready_.front());
        ready_.pop_front();
        std::deque<Work>& queue = lanes_.at(lane);
        const Work work = std::move(queue.front());
        queue.pop_front();
        lock.unlock();
        work(stop);
        lock.lock();
        if (queue.empty()) {
            lanes_.erase(lane);
        } else {
            ready_.push_back(lane);  // behind the others
        }
    }
}

}  // namespace assay::node
