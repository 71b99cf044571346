// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/block_feed.hpp"

#include <utility>
#include <vector>

namespace assay::node {

BlockFeed::BlockFeed(LedgerService& service)
    : service_(service), thread_([this](const std::stop_token& stop) { run(stop); }) {}

BlockFeed::~BlockFeed() { stop(); }

void BlockFeed::stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void BlockFeed::wait(BlockWaiter& waiter, std::uint64_t height) {
    {
        const std::lock_guard lock(mutex_);
        if (height > tip_) {
            waiting_.emplace(&waiter, height);
            wake_.notify_all();
            return;
        }
    }
    waiter.block_here();
}

bool BlockFeed::forget(BlockWaiter& waiter) {
    const std::lock_guard lock(mutex_);
    return waiting_.erase(&waiter) > 0;
}

Outcome<std::shared_ptr<const BlockNotice>> BlockFeed::read(std::uint64_t height) {
    {
        const std::lock_guard lock(mutex_);
        if (newest_ && newest_->height == height) return newest_;
    }
    std::shared_ptr<const BlockNotice> found;
    ASSAY_TRY(service_.subscribe(height, {}, [&](const BlockNotice& notice) {
        found = std::make_shared<const BlockNotice>(notice);
        return false;
    }));
    if (!found) return base::fail(base::ErrorKind::kFailure, "the ledger gave no block and no reason");
    return found;
}

void BlockFeed::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        if (const auto followed = follow(stop); !followed && !stop.stop_requested()) ended(followed.error());
        // A service that ended the subscription is asked again when somebody asks us again.
        std::unique_lock lock(mutex_);
        wake_.wait(lock, stop, [this] { return !waiting_.empty(); });
    }
}

Outcome<void> BlockFeed::follow(const std::stop_token& stop) {
    ASSAY_ASSIGN(const LedgerStatus status, service_.status());
    seen(status.height, nullptr);
    ASSAY_TRY(service_.subscribe(status.height + 1, stop, [&](const BlockNotice& notice) {
        seen(notice.height, std::make_shared<const BlockNotice>(notice));
        return !stop.stop_requested();
    }));
    return base::fail(base::ErrorKind::kUnreachable, "the ledger ended the subscription", "subscribe again");
}

void BlockFeed::seen(std::uint64_t height, std::shared_ptr<const BlockNotice> newest) {
    std::vector<BlockWaiter*> due;
    {
        const std::lock_guard lock(mutex_);
        tip_ = height;
        newest_ = std::move(newest);
        for (auto next = waiting_.begin(); next != waiting_.end();) {
            if (next->second > tip_) {
                ++next;
                continue;
            }
            due.push_back(next->first);
            next = waiting_.erase(next);
        }
    }
    for (BlockWaiter* waiter : due) waiter->block_here();
}

void BlockFeed::ended(const base::Error& why) {
    std::map<BlockWaiter*, std::uint64_t> all;
    {
        const std::lock_guard lock(mutex_);
        all.swap(waiting_);
    }
    for (const auto& [waiter, height] : all) waiter->feed_ended(why);
}

}  // namespace assay::node
