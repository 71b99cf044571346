// SPDX-License-Identifier: Apache-2.0
// Gives engines Mempool, the transactions that wait for a block, bounded in number, bytes and per sender,
// each sender's in nonce order without gaps.
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

    /// Admits a transaction whose nonce is the sender's next: `state_nonce` plus those already waiting.
    /// Errors: kTooLarge, kNonceUsed, kNonceWaiting (it is here already, or another of its nonce is),
    /// kNonceGap, kSenderBusy (too many or too much of this sender), kNodeBusy.
    base::Result<void, contracts::Reason> add(const TransactionInfo& info, std::uint64_t state_nonce,
                                              Bytes transaction);

    /// The first in order of arrival: up to `count` of at most `bytes` in total, and one whatever its size.
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
    /// What waits of one sender.
    struct Share {
        std::size_t count = 0;
        std::size_t bytes = 0;
    };
    std::map<PublicKey, Share> per_sender_;
    std::size_t bytes_ = 0;
};

}  // namespace assay::ledger
