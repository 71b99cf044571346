// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/move_dropper.hpp"

#include "contracts/rules/state/transaction_type.hpp"
#include "contracts/rules/transactions.hpp"

namespace assay::node {

namespace {

bool is_of_dispute(contracts::TxType type) {
    using contracts::TxType;
    switch (type) {
        case TxType::kDisputeOpen:
        case TxType::kDisputePost:
        case TxType::kDisputePick:
        case TxType::kDisputeProve:
        case TxType::kDisputeConcede:
        case TxType::kDisputeCall: return true;
        default: return false;
    }
}

}  // namespace

std::optional<std::string> MoveDropper::leaves_out(base::ByteView signed_transaction) {
    if (!party_) return std::nullopt;
    const auto transaction = base::decode<contracts::SignedTransaction>(signed_transaction);
    if (!transaction.ok()) return std::nullopt;
    const auto body = contracts::decode_body(transaction->body);
    if (!body.ok() || body->sender != *party_ || !is_of_dispute(contracts::type_of(body->payload)))
        return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (++moves_ % 2 == 0) return std::nullopt;
    return "drill: move " + std::to_string(moves_) + " of " + party_->brief() + " is left out (" +
           std::string(contracts::to_text(contracts::type_of(body->payload))) + ")";
}

}  // namespace assay::node
