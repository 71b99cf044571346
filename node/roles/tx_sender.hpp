// SPDX-License-Identifier: Apache-2.0
// Gives roles TxSender, which sends the transactions of one key, one in flight at a time, with nonces from
// the followed state. A role's plan is a function of the state, so it offers the same transaction again and
// again. An offer therefore has a name, and repeats of the name are ignored until it is answered. What the
// ledger will never accept is not sent again; what it may accept later is, with longer and longer pauses.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "contracts/rules/state/state.hpp"
#include "contracts/rules/transactions.hpp"
#include "node/roles/refusal.hpp"
#include "node/roles/requests.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// An offer that the ledger refused. `retry` is nothing when this version does not know the reason; the offer
/// is then tried again, as if a change of the state could make it acceptable.
struct RefusedOffer {
    std::string name;
    contracts::TxType type = contracts::TxType::kTransfer;
    LedgerRefusal refusal;
    std::optional<contracts::Retry> retry;
};

class TxSender {
public:
    using OnRefused = std::function<void(const RefusedOffer&)>;
    /// The block that holds the transaction, by its encoded receipt; nothing: the receipt shows none. Called
    /// for each transaction that the port says was accepted.
    using BlockOf =
        std::function<std::optional<std::uint64_t>(const base::Hash256& transaction, base::ByteView receipt)>;

    /// `ledger`, `log` and `key` must outlive the sender. `on_refused` is called once for each reason for
    /// which an offer is refused, not at every repetition. Expiry is 100,000 blocks after the followed
    /// height.
    TxSender(LedgerPort& ledger, Log& log, Requests& requests, const base::SecretKey& key,
             std::string chain_id, BlockOf block_of, OnRefused on_refused = {});

    /// Begins a plan at the followed height. Forgets offers that were not sent, since the state may hold them
    /// by now.
    void begin(std::uint64_t height);

    /// Queues a transaction, unless one of this name waits or was accepted at a height not yet followed, or
    /// this very payload was refused for ever, or was refused and its pause is not over.
    void offer(const std::string& name, contracts::Payload payload);

    /// Sends the next one when none is in flight or settles: one that was accepted settles until its block is
    /// followed, but for 240 ticks at most. Call after every block and every answer.
    void pump(const contracts::StateView& state, std::uint64_t height);

    /// Second clock besides heights, since blocks may stop. Call it twice a second. A pause of n ends after n
    /// blocks or n ticks.
    void tick();

    /// Whether a transaction is queued, or in flight, or accepted at a height that is not followed yet.
    [[nodiscard]] bool is_busy() const { return !queue_.empty() || in_flight_ || !settling_.empty(); }

    [[nodiscard]] const base::PublicKey& key() const { return key_.public_key(); }

private:
    struct Wanted {
        std::string name;
        contracts::Payload payload;
    };
    /// 1, 2, 4, then 8 blocks or ticks.
    struct Pause {
        std::uint64_t times = 0;
        std::uint64_t height = 0;
        std::uint64_t tick = 0;
        void begin(std::uint64_t now, std::uint64_t ticks);
        [[nodiscard]] bool over(std::uint64_t now, std::uint64_t ticks) const {
            return now >= height || ticks >= tick;
        }
    };
    /// What is known about a refused payload.
    struct Past {
        LedgerRefusal refusal;
        bool for_ever = false;
        Pause pause;
        std::uint64_t last_offered = 0;  ///< tick
    };
    void answered(const Outcome<SubmitReply>& reply);
    /// Whether it was included is not known, so that the state decides at the next pump.
    void unanswered(const Wanted& sent, const std::string& why);
    [[nodiscard]] bool settles(std::uint64_t height);
    void refused(const Wanted& sent, const SubmitReply& reply);
    [[nodiscard]] base::Hash256 id_of(const contracts::Payload& payload) const;

    LedgerPort& ledger_;
    Log& log_;
    Requests& requests_;
    const base::SecretKey& key_;
    std::string chain_id_;
    BlockOf block_of_;
    OnRefused on_refused_;
    std::deque<Wanted> queue_;
    std::set<std::string> names_;  ///< queued, in flight, or settling
    std::optional<Wanted> in_flight_;
    base::Hash256 sent_id_;  ///< of the transaction in flight
    std::map<base::Hash256, Past> past_;
    std::uint64_t height_ = 0;  ///< followed
    std::uint64_t ticks_ = 0;
    std::uint64_t sent_at_ = 0;          ///< followed height when the one in flight was sent
    Pause pause_;                        ///< of all sending: no answer, a busy node, a nonce that is behind
    std::uint64_t settles_at_ = 0;       ///< the accepted transaction's block, until it is followed
    std::uint64_t settles_by_ = 0;       ///< tick after which it is not waited for
    std::string settling_;               ///< its name
    std::optional<std::string> failed_;  ///< last failure logged, so that a repeated one is logged once
};

}  // namespace assay::node
