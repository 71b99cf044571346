// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/blocks_ahead.hpp"

#include <algorithm>
#include <utility>

namespace assay::node {

BlocksAhead::BlocksAhead(LedgerService& service, std::uint64_t first, std::uint64_t last)
    : service_(service), last_(last), to_ask_(first), to_take_(first) {
    const std::uint64_t blocks = last < first ? 0 : last - first + 1;
    for (std::uint64_t i = 0; i < std::min(blocks, kMost); ++i)
        threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
}

BlocksAhead::~BlocksAhead() {
    for (std::jthread& thread : threads_) thread.request_stop();
    for (std::jthread& thread : threads_) thread.join();
}

Outcome<Bytes> BlocksAhead::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return here_.contains(to_take_); });
    auto taken = here_.extract(to_take_++);
    changed_.notify_all();
    return std::move(taken.mapped());
}

void BlocksAhead::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
        const bool asks =
            changed_.wait(lock, stop, [this] { return to_ask_ > last_ || to_ask_ < to_take_ + kMost; });
        if (!asks || stop.stop_requested() || to_ask_ > last_) return;
        const std::uint64_t height = to_ask_++;
        lock.unlock();
        auto block = service_.block(height);
        lock.lock();
        here_.emplace(height, std::move(block));
        changed_.notify_all();
    }
}

}  // namespace assay::node
