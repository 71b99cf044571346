// SPDX-License-Identifier: Apache-2.0
#include "node/roles/tx_sender.hpp"

#include <algorithm>

#include "contracts/rules/tables.hpp"

namespace assay::node {

namespace {
constexpr std::uint64_t kLifetimeBlocks = 100'000;
constexpr std::uint64_t kLongestPause = 8;     ///< below the shortest window that a job's bidding has
constexpr std::uint64_t kForgottenAfter = 20;  ///< ticks without being offered
constexpr std::uint64_t kSettlesFor = 240;     ///< ticks: two minutes, longer than any block interval
}  // namespace

TxSender::TxSender(LedgerPort& ledger, Log& log, Requests& requests, const base::SecretKey& key,
                   std::string chain_id, BlockOf block_of, OnRefused on_refused)
    : ledger_(ledger),
      log_(log),
      requests_(requests),
      key_(key),
      chain_id_(std::move(chain_id)),
      block_of_(std::move(block_of)),
      on_refused_(std::move(on_refused)) {}

void TxSender::Pause::begin(std::uint64_t now, std::uint64_t ticks) {
    const std::uint64_t length =
        std::min(kLongestPause, std::uint64_t{1} << std::min<std::uint64_t>(times, 3));
    ++times;
    height = now + length;
    tick = ticks + length;
}

void TxSender::begin(std::uint64_t height) {
    height_ = height;
    for (const Wanted& wanted : queue_) names_.erase(wanted.name);
    queue_.clear();
}

void TxSender::offer(const std::string& name, contracts::Payload payload) {
    if (names_.contains(name)) return;
    if (!past_.empty()) {
        if (const auto found = past_.find(id_of(payload)); found != past_.end()) {
            found->second.last_offered = ticks_;
            if (found->second.for_ever || !found->second.pause.over(height_, ticks_)) return;
        }
    }
    names_.insert(name);
    queue_.push_back({name, std::move(payload)});
}

bool TxSender::settles(std::uint64_t height) {
    if (settling_.empty() || height >= settles_at_) return false;
    if (ticks_ < settles_by_) return true;
    log_.warn("block " + std::to_string(settles_at_) + ", which should hold '" + settling_ +
              "', has not come; what is still wanted is sent again");
    return false;
}

void TxSender::pump(const contracts::StateView& state, std::uint64_t height) {
    height_ = height;
    if (in_flight_ || settles(height)) return;
    if (!settling_.empty()) {
        names_.erase(settling_);
        settling_.clear();
    }
    if (queue_.empty() || !pause_.over(height, ticks_)) return;
    in_flight_ = std::move(queue_.front());
    queue_.pop_front();
    const contracts::TxBody body{.sender = key_.public_key(),
                                 .nonce = contracts::next_nonce(state, key_.public_key()),
                                 .expiry = height + kLifetimeBlocks,
                                 .payload = in_flight_->payload};
    sent_at_ = height;
    sent_id_ = contracts::transaction_id(contracts::encode_body(body));
    const RequestId request = requests_.on_submit([this](const auto& reply) { answered(reply); });
    ledger_.submit(request, contracts::sign_transaction(body, key_, chain_id_));
}

void TxSender::tick() {
    ++ticks_;
    std::erase_if(past_,
                  [this](const auto& entry) { return entry.second.last_offered + kForgottenAfter < ticks_; });
}

void TxSender::answered(const Outcome<SubmitReply>& reply) {
    const Wanted sent = std::move(*in_flight_);
    in_flight_.reset();
    if (!reply.ok()) return unanswered(sent, "the ledger did not answer: " + reply.error().what);
    if (!reply->accepted) {
        failed_.reset();
        return refused(sent, *reply);
    }
    // Whoever answers could name any block, and nothing would be sent until it comes.
    const auto block = block_of_(sent_id_, reply->receipt);
    if (!block)
        return unanswered(sent, "the ledger's answer holds no receipt of its validators for '" + sent.name +
                                    "'; check the address of the ledger node");
    failed_.reset();
    log_.debug("accepted at height " + std::to_string(*block) + ": " + sent.name);
    settles_at_ = *block;
    settles_by_ = ticks_ + kSettlesFor;
    settling_ = sent.name;
    pause_ = {};
    if (!past_.empty()) past_.erase(id_of(sent.payload));
}

void TxSender::unanswered(const Wanted& sent, const std::string& why) {
    if (failed_ != why) log_.warn(why);
    failed_ = why;
    pause_ = {.times = 0, .height = sent_at_ + 1, .tick = ticks_ + 1};
    names_.erase(sent.name);
}

void TxSender::refused(const Wanted& sent, const SubmitReply& reply) {
    names_.erase(sent.name);
    const LedgerRefusal refusal = refusal_in(reply);
    const auto again = retry(refusal);
    Past& past = past_[id_of(sent.payload)];
    const bool told = past.refusal == refusal;
    past.refusal = refusal;
    past.last_offered = ticks_;
    if (again == contracts::Retry::kNever) {
        past.for_ever = true;
    } else if (again == contracts::Retry::kSoon) {
        pause_.begin(sent_at_, ticks_);  // it would be the same with any other transaction
    } else {
        past.pause.begin(sent_at_, ticks_);
    }
    if (on_refused_ && !told) {
        on_refused_({.name = sent.name,
                     .type = contracts::type_of(sent.payload),
                     .refusal = refusal,
                     .retry = again});
    }
}

base::Hash256 TxSender::id_of(const contracts::Payload& payload) const {
    return base::hash("assay/offer",
                      contracts::encode_body({.sender = key_.public_key(), .payload = payload}));
}

}  // namespace assay::node
