// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/fair_pool.hpp"

#include <utility>

namespace assay::node {

FairPool::FairPool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

FairPool::~FairPool() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
}

void FairPool::add(const std::string& caller, std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        auto& queue = waiting_[caller];
        if (queue.empty()) turns_.push_back(caller);
        queue.push_back(std::move(work));
    }
    wake_.notify_one();
}

void FairPool::run() {
    while (true) {
        std::function<void()> work;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return ending_ || !turns_.empty(); });
            if (turns_.empty()) return;
            const auto next = waiting_.find(turns_.front());
            turns_.pop_front();
            work = std::move(next->second.front());
            next->second.pop_front();
            if (next->second.empty()) {
                waiting_.erase(next);
            } else {
                turns_.push_back(next->first);
            }
        }
        work();
    }
}

}  // namespace assay::node
