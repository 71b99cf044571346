// SPDX-License-Identifier: Apache-2.0
// Gives whoever fetches a ledger BlocksAhead, which asks a node for several blocks at once, so that a long
// way to the node does not set the pace.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "node/seams/ledger_service.hpp"

namespace assay::node {

class BlocksAhead {
public:
    /// The most blocks that are asked for or wait to be taken. With the service's own limit for a block this
    /// bounds the memory, whatever the node sends.
    static constexpr std::uint64_t kMost = 8;

    /// Asks for the blocks from `first` to `last`, both included. `service` must outlive it.
    BlocksAhead(LedgerService& service, std::uint64_t first, std::uint64_t last);
    /// Waits for the calls in progress.
    ~BlocksAhead();
    BlocksAhead(const BlocksAhead&) = delete;
    BlocksAhead& operator=(const BlocksAhead&) = delete;

    /// Waits for the next block's answer and returns it: its bytes as they came, or the service's error.
    /// REQUIRES that fewer than last - first + 1 were taken.
    Outcome<Bytes> next();

private:
    void run(const std::stop_token& stop);

    LedgerService& service_;
    const std::uint64_t last_;
    std::mutex mutex_;  ///< guards all below
    std::condition_variable_any changed_;
    std::uint64_t to_ask_;
    std::uint64_t to_take_;
    std::map<std::uint64_t, Outcome<Bytes>> here_;
    std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace assay::node
