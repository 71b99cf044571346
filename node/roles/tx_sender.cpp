// SPDX-License-Identifier: Apache-2.0
#include "node/roles/tx_sender.hpp"

#include "contracts/rules/tables.hpp"
#include "node/runtime/log.hpp"

namespace assay::node {

namespace {
constexpr std::uint64_t kLifetimeBlocks = 100'000;
}

TxSender::TxSender(LedgerPort& ledger, Requests& requests, const base::SecretKey& key, std::string chain_id)
    : ledger_(ledger), requests_(requests), key_(key), chain_id_(std::move(chain_id)) {}

void TxSender::offer(const std::string& name, contracts::Payload payload) {
    if (names_.insert(name).second) queue_.push_back({name, std::move(payload)});
}

void TxSender::pump(const contracts::StateView& state, std::uint64_t height) {
    if (in_flight_ || height < wait_for_height_) return;
    if (!settling_.empty()) {
        names_.erase(settling_);
        settling_.clear();
    }
    if (queue_.empty()) return;
    const contracts::TxBody body{.sender = key_.public_key(),
                                 .nonce = contracts::next_nonce(state, key_.public_key()),
                                 .expiry = height + kLifetimeBlocks,
                                 .payload = queue_.front().payload};
    in_flight_ = true;
    sent_at_ = height;
    const RequestId request = requests_.on_submit([this](const auto& reply) { answered(reply); });
    ledger_.submit(request, contracts::sign_transaction(body, key_, chain_id_));
}

void TxSender::retry() {
    if (settling_.empty()) wait_for_height_ = 0;
}

void TxSender::answered(const Outcome<SubmitReply>& reply) {
    in_flight_ = false;
    if (!reply.ok()) {
        // Nobody answered: whether it was included is not known, so the state decides at the next pump.
        if (failed_ != reply.error().what) log_warn("the ledger did not answer: " + reply.error().what);
        failed_ = reply.error().what;
        wait_for_height_ = sent_at_ + 1;
        names_.erase(queue_.front().name);
        queue_.pop_front();
        return;
    }
    const std::string name = queue_.front().name;
    queue_.pop_front();
    if (reply->accepted) {
        log_debug("accepted at height " + std::to_string(reply->height) + ": " + name);
        wait_for_height_ = reply->height;
        settling_ = name;
        failed_.reset();
        if (on_receipt_) on_receipt_(reply->receipt);
        return;
    }
    names_.erase(name);
    wait_for_height_ = sent_at_ + 1;  // the same state would refuse it again
    const std::string text = name + " refused: " + reply->reason_text;
    if (failed_ != text) log_warn(text);
    failed_ = text;
}

}  // namespace assay::node
