// SPDX-License-Identifier: Apache-2.0
// TxSender: the transactions of one key, one in flight at a time, nonces from the followed state. What is
// wanted is offered again and again from the state (a role's plan is a function of the state), so an offer
// carries a name and repeats of a name are ignored until it is answered.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "contracts/rules/state.hpp"
#include "contracts/rules/transactions.hpp"
#include "node/roles/requests.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

class TxSender {
public:
    /// `key` and `ledger` must outlive the sender. Expiry is `lifetime_blocks` after the followed height.
    TxSender(LedgerPort& ledger, Requests& requests, const base::SecretKey& key, std::string chain_id);

    /// `handler` gets the encoded receipt of every accepted transaction.
    void on_receipt(std::function<void(base::ByteView)> handler) { on_receipt_ = std::move(handler); }

    /// Queues a transaction unless one of this name waits, or was accepted at a height not yet followed.
    void offer(const std::string& name, contracts::Payload payload);

    /// Sends the next one when none is in flight. Call after every block and every answer.
    void pump(const contracts::StateView& state, std::uint64_t height);

    /// After a refusal or no answer the sender waits for the next block; this ends the wait.
    void retry();

    [[nodiscard]] const base::PublicKey& key() const { return key_.public_key(); }

private:
    struct Wanted {
        std::string name;
        contracts::Payload payload;
    };
    void answered(const Outcome<SubmitReply>& reply);

    LedgerPort& ledger_;
    Requests& requests_;
    const base::SecretKey& key_;
    std::string chain_id_;
    std::function<void(base::ByteView)> on_receipt_;
    std::deque<Wanted> queue_;
    std::set<std::string> names_;
    bool in_flight_ = false;
    std::uint64_t sent_at_ = 0;          ///< followed height when the one in flight was sent
    std::uint64_t wait_for_height_ = 0;  ///< the accepted transaction's block, until it is followed
    std::string settling_;               ///< its name
    std::optional<std::string> failed_;  ///< last refusal logged, so that a repeated one is logged once
};

}  // namespace assay::node
