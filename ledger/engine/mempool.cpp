// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine/mempool.hpp"

namespace assay::ledger {

using base::failed;
using contracts::Reason;

base::Result<void, Reason> Mempool::add(const TransactionInfo& info, std::uint64_t state_nonce,
                                        Bytes transaction) {
    if (transaction.size() > options_.max_transaction_bytes) return failed(Reason::kTooLarge);
    const auto found = per_sender_.find(info.sender);
    const Share share = found == per_sender_.end() ? Share{} : found->second;
    // What is wrong with the transaction itself is said before how busy the node is: waiting mends only that.
    if (info.nonce < state_nonce) return failed(Reason::kNonceUsed);
    const std::uint64_t ahead = info.nonce - state_nonce;
    if (ids_.contains(info.id) || ahead < share.count) return failed(Reason::kNonceWaiting);
    if (ahead > share.count) return failed(Reason::kNonceGap);
    if (share.count >= options_.max_per_sender ||
        (share.count > 0 && share.bytes + transaction.size() > options_.max_bytes_per_sender)) {
        return failed(Reason::kSenderBusy);
    }
    if (queue_.size() >= options_.max_transactions || bytes_ + transaction.size() > options_.max_bytes) {
        return failed(Reason::kNodeBusy);
    }
    bytes_ += transaction.size();
    ids_.emplace(info.id, info.sender);
    per_sender_[info.sender] = {share.count + 1, share.bytes + transaction.size()};
    queue_.push_back(Waiting{info, std::move(transaction)});
    return {};
}

std::vector<Bytes> Mempool::first(std::size_t count, std::size_t bytes) const {
    std::vector<Bytes> found;
    std::size_t found_bytes = 0;
    for (const Waiting& next : queue_) {
        if (found.size() == count) break;
        if (!found.empty() && found_bytes + next.bytes.size() > bytes) break;
        found_bytes += next.bytes.size();
        found.push_back(next.bytes);
    }
    return found;
}

std::vector<Hash256> Mempool::drop(std::size_t count) {
    std::vector<Hash256> dropped;
    while (!queue_.empty() && dropped.size() < count) {
        const Waiting& next = queue_.front();
        bytes_ -= next.bytes.size();
        ids_.erase(next.info.id);
        const auto sender = per_sender_.find(next.info.sender);
        sender->second.bytes -= next.bytes.size();
        if (--sender->second.count == 0) per_sender_.erase(sender);
        dropped.push_back(next.info.id);
        queue_.pop_front();
    }
    return dropped;
}

}  // namespace assay::ledger
