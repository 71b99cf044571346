// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine/mempool.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

Outcome<void> Mempool::add(const TransactionInfo& info, std::uint64_t state_nonce, Bytes transaction) {
    const auto refuse = [](const std::string& what, const std::string& fix = {}) {
        return fail(ErrorKind::kRejected, what, fix);
    };
    if (transaction.size() > options_.max_transaction_bytes) {
        return refuse("the transaction has " + std::to_string(transaction.size()) + " bytes; at most " +
                      std::to_string(options_.max_transaction_bytes) + " are taken");
    }
    if (ids_.contains(info.id)) return refuse("the transaction is already waiting");
    if (queue_.size() >= options_.max_transactions || bytes_ + transaction.size() > options_.max_bytes)
        return refuse("the node has too many transactions waiting", "submit it again in a moment");
    const auto found = per_sender_.find(info.sender);
    const Share share = found == per_sender_.end() ? Share{} : found->second;
    if (share.count >= options_.max_per_sender ||
        (share.count > 0 && share.bytes + transaction.size() > options_.max_bytes_per_sender)) {
        return refuse("the sender has " + std::to_string(share.count) + " transactions waiting already",
                      "submit it again in a moment");
    }
    if (info.nonce != state_nonce + share.count) {
        return refuse("nonce " + std::to_string(info.nonce) + ", but the sender's next one is " +
                          std::to_string(state_nonce + share.count),
                      "sign it again with that nonce");
    }
    bytes_ += transaction.size();
    ids_.emplace(info.id, info.sender);
    per_sender_[info.sender] = {share.count + 1, share.bytes + transaction.size()};
    queue_.push_back(Waiting{info, std::move(transaction)});
    return {};
}

std::vector<Bytes> Mempool::take(std::size_t count, std::size_t bytes) {
    std::vector<Bytes> taken;
    std::size_t taken_bytes = 0;
    while (!queue_.empty() && taken.size() < count) {
        Waiting& next = queue_.front();
        // The first one always goes: max_transaction_bytes may be above `bytes`.
        if (!taken.empty() && taken_bytes + next.bytes.size() > bytes) break;
        taken_bytes += next.bytes.size();
        bytes_ -= next.bytes.size();
        ids_.erase(next.info.id);
        const auto sender = per_sender_.find(next.info.sender);
        sender->second.bytes -= next.bytes.size();
        if (--sender->second.count == 0) per_sender_.erase(sender);
        taken.push_back(std::move(next.bytes));
        queue_.pop_front();
    }
    return taken;
}

}  // namespace assay::ledger
