// SPDX-License-Identifier: Apache-2.0
// EmbeddedEngine is the engine of a node that needs no quorum: one validator, the sequencer, orders
// everything. It drives the application and knows nothing else about the rules. It is trusted for liveness,
// not for results: blocks and receipts are signed, and anybody can execute the log again. It has no threads;
// the owner calls it on one strand.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "contracts/base/sign.hpp"
#include "ledger/engine/believed_clock.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/engine/clock.hpp"
#include "ledger/engine/engines.hpp"
#include "ledger/engine/mempool.hpp"

namespace assay::ledger {

struct EmbeddedOptions {
    std::uint64_t block_interval_ms = 100;  ///< least time between two blocks; at least the genesis' interval
    std::size_t max_block_transactions = 1000;  ///< per block
    std::size_t max_block_bytes = 4U << 20U;    ///< of transactions, per block
    MempoolOptions mempool;
};

class EmbeddedEngine final : public LedgerEngine {
public:
    /// Opens an engine with a chain of its own. Errors as for open_engine.
    static Outcome<std::unique_ptr<LedgerEngine>> open(const EngineParts& parts);
    /// REQUIRES key.public_key() == chain.sequencer(). All three must outlive the engine.
    EmbeddedEngine(Chain& chain, const base::SecretKey& key, EngineClock& clock,
                   const EmbeddedOptions& options = {});

    void submit(Bytes transaction, Done done) override;
    /// Makes a block when one is due. Fails when the chain stopped.
    Outcome<std::optional<std::uint64_t>> tick() override;
    std::uint64_t subscribe(Subscriber subscriber) override;
    void unsubscribe(std::uint64_t id) override;

    [[nodiscard]] Application& application() override { return chain_.application(); }
    [[nodiscard]] const Genesis& genesis() const override { return chain_.genesis(); }
    [[nodiscard]] PublicKey validator() const override { return chain_.sequencer(); }
    [[nodiscard]] Outcome<Block> block(std::uint64_t height) const override { return chain_.block(height); }
    [[nodiscard]] Outcome<BlockResults> results(std::uint64_t height) const override {
        return chain_.results(height);
    }
    [[nodiscard]] const std::vector<std::string>& notes() const override { return chain_.notes(); }

    [[nodiscard]] std::string held_up() const override;

    [[nodiscard]] std::size_t pending() const { return mempool_.size(); }
    [[nodiscard]] const Chain& chain() const { return chain_; }

private:
    EmbeddedEngine(std::unique_ptr<Chain> chain, const EngineParts& parts);
    [[nodiscard]] bool wanted() const;
    /// How far the next block's time would be ahead of a clock that shows `wall_ms`.
    [[nodiscard]] std::uint64_t ahead_of_clock(std::uint64_t wall_ms) const;
    /// `wall_ms`: the reading that was believed, and no other.
    Outcome<void> make_block(std::uint64_t wall_ms);
    [[nodiscard]] std::string doubted_clock() const;
    Receipt receipt_for(const Committed& block, std::uint32_t index) const;
    Outcome<Receipt> receipt_of(const TransactionPlace& place, const Hash256& id) const;
    void answer(const Hash256& id, Outcome<Answer> outcome);
    void fail_first(std::size_t count, const base::Error& error);
    void refuse_all(const base::Error& error);

    std::unique_ptr<Chain> own_chain_;  ///< null when the chain belongs to somebody else
    Chain& chain_;
    const base::SecretKey& key_;
    EngineClock& clock_;
    BelievedClock believed_clock_{clock_};
    BelievedClock::Look last_look_;
    EmbeddedOptions options_;
    Mempool mempool_;
    std::map<Hash256, Done> waiting_;
    std::map<std::uint64_t, Subscriber> subscribers_;
    std::uint64_t next_subscriber_ = 1;
    std::optional<std::uint64_t> last_block_ms_;  // monotonic
    std::string not_stored_;  // why the last block that was tried is not on disk; empty: it is
};

}  // namespace assay::ledger
