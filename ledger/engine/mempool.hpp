// SPDX-License-Identifier: Apache-2.0
// Mempool holds the transactions that wait for a block, for engines. It is bounded in number, bytes and per
// sender, and holds each sender's transactions in nonce order without gaps.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "ledger/application/machine.hpp"

namespace assay::ledger {

struct MempoolOptions {
    std::size_t max_transactions = 10'000;
    std::size_t max_bytes = 64U << 20U;
    std::size_t max_per_sender = 256;
    std::size_t max_bytes_per_sender = 4U << 20U;     ///< as much as one block takes
    std::size_t max_transaction_bytes = 512U << 10U;  ///< the rules take no larger ones
};

class Mempool {
public:
    explicit Mempool(const MempoolOptions& options) : options_(options) {}

    /// Admits a transaction whose nonce is the sender's next: `state_nonce` plus the number already waiting.
    /// Fails with kTooLarge, kNonceUsed, kNonceWaiting (it or another with its nonce is waiting), kNonceGap,
    /// kSenderBusy (too many transactions or bytes of this sender) or kNodeBusy.
    base::Result<void, contracts::Reason> add(const TransactionInfo& info, std::uint64_t state_nonce,
                                              Bytes transaction);

    /// The first transactions in order of arrival: at most `count`, with at most `bytes` in total; but at
    /// least one, whatever its size.
    [[nodiscard]] std::vector<Bytes> first(std::size_t count, std::size_t bytes) const;
    /// Removes the first `count`, or all when there are fewer, and returns their ids.
    std::vector<Hash256> drop(std::size_t count);

    [[nodiscard]] bool contains(const Hash256& id) const { return ids_.contains(id); }
    [[nodiscard]] std::size_t size() const { return queue_.size(); }

private:
    struct Waiting {
        TransactionInfo info;
        Bytes bytes;
    };
    MempoolOptions options_;
    std::deque<Waiting> queue_;  // arrival order keeps each sender's nonce order, as gaps are refused
    std::map<Hash256, PublicKey> ids_;
    /// The waiting transactions of one sender.
    struct Share {
        std::size_t count = 0;
        std::size_t bytes = 0;
    };
    std::map<PublicKey, Share> per_sender_;
    std::size_t bytes_ = 0;
};

}  // namespace assay::ledger
