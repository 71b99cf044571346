// SPDX-License-Identifier: Apache-2.0
// Gives a node that needs no quorum EmbeddedEngine, in which one validator, the sequencer, orders
// everything. It drives the application and knows nothing else of the rules. It is trusted for liveness,
// not for results: blocks and receipts are signed, and anybody can execute the log again. No threads
// inside: the owner calls it on one strand.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "contracts/base/sign.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/engine/clock.hpp"
#include "ledger/engine/mempool.hpp"

namespace assay::ledger {

struct EmbeddedOptions {
    std::uint64_t block_interval_ms = 100;      ///< no two blocks closer than this
    std::size_t max_block_transactions = 1000;  ///< per block
    std::size_t max_block_bytes = 4U << 20U;    ///< of transactions, per block
    MempoolOptions mempool;
};

/// What became of a submitted transaction: its receipt, or the rule that refused it.
using Answer = base::Result<Receipt, contracts::Reason>;

class EmbeddedEngine {
public:
    /// Called once: with the receipt after the block is on disk, with the reason of a refusal, or with an
    /// error (kFailure) when nothing could be decided: the disk is too full, or the engine stopped.
    using Done = std::function<void(Outcome<Answer>)>;
    using Subscriber = std::function<void(const Committed&)>;

    /// REQUIRES key.public_key() == chain.sequencer(). All three must outlive the engine.
    EmbeddedEngine(Chain& chain, const base::SecretKey& key, EngineClock& clock,
                   const EmbeddedOptions& options = {});

    /// Checks form, signature, sender and nonce and queues. `done` may be called before this returns: with a
    /// refusal, or with the receipt when the transaction is in a block already.
    void submit(Bytes transaction, Done done);

    /// Makes a block when one is due. Returns in how many ms it wants to be called again when nothing
    /// arrives; nothing: only after the next submit. Error: the chain stopped, end the process.
    Outcome<std::optional<std::uint64_t>> tick();

    /// `subscriber` sees every block committed from now on, on the caller's strand, before receipts go out.
    std::uint64_t subscribe(Subscriber subscriber);
    void unsubscribe(std::uint64_t id);

    [[nodiscard]] std::size_t pending() const { return mempool_.size(); }
    [[nodiscard]] const Chain& chain() const { return chain_; }

private:
    [[nodiscard]] bool wanted() const;
    Outcome<void> make_block();
    Receipt receipt_for(const Committed& block, std::uint32_t index) const;
    Outcome<Receipt> receipt_of(const TransactionPlace& place, const Hash256& id) const;
    void answer(const Hash256& id, Outcome<Answer> outcome);
    void fail_first(std::size_t count, const base::Error& error);
    void refuse_all(const base::Error& error);

    Chain& chain_;
    const base::SecretKey& key_;
    EngineClock& clock_;
    EmbeddedOptions options_;
    Mempool mempool_;
    std::map<Hash256, Done> waiting_;
    std::map<std::uint64_t, Subscriber> subscribers_;
    std::uint64_t next_subscriber_ = 1;
    std::optional<std::uint64_t> last_block_ms_;  // monotonic
    std::uint64_t last_time_ms_ = 0;              // wall, as written in the last header
};

}  // namespace assay::ledger
