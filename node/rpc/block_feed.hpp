// SPDX-License-Identifier: Apache-2.0
// Gives all subscribers of a server BlockFeed, one subscription to the service that they share. A subscriber
// that waits for the next block is an entry in a list, and one thread serves them all. Internal to node/rpc.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "node/seams/ledger_service.hpp"

namespace assay::node {

/// A subscriber that waits for a block. For each wait the feed calls one of the two functions once; neither
/// may block.
class BlockWaiter {
public:
    virtual ~BlockWaiter() = default;
    /// The block can be read now, with BlockFeed::read on a thread that may block.
    virtual void block_here() = 0;
    virtual void feed_ended(const base::Error& why) = 0;
};

/// Thread-safe.
class BlockFeed {
public:
    /// `service` must outlive the feed.
    explicit BlockFeed(LedgerService& service);
    /// Ends the subscription. REQUIRES that nobody waits.
    ~BlockFeed();

    /// Calls `waiter` when the block of `height` exists: inside this call, or later from the feed's thread.
    void wait(BlockWaiter& waiter, std::uint64_t height);
    /// Ends a wait. True when the waiter will not be called; false when it is being called or was.
    [[nodiscard]] bool forget(BlockWaiter& waiter);

    /// Returns a block that exists. Blocks the caller as LedgerService does.
    Outcome<std::shared_ptr<const BlockNotice>> read(std::uint64_t height);

    /// Ends the subscription to the service. Waiters stay in the list.
    void stop();

private:
    void run(const std::stop_token& stop);
    Outcome<void> follow(const std::stop_token& stop);
    void seen(std::uint64_t height, std::shared_ptr<const BlockNotice> newest);
    void ended(const base::Error& why);

    LedgerService& service_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::uint64_t tip_ = 0;
    std::shared_ptr<const BlockNotice> newest_;
    std::map<BlockWaiter*, std::uint64_t> waiting_;  ///< waiters, and the height that each waits for
    std::jthread thread_;                            // last: it uses everything above
};

}  // namespace assay::node
