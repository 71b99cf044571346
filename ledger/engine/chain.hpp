// SPDX-License-Identifier: Apache-2.0
// Chain makes and keeps the blocks of one validator, for the embedded engine, tests and benches, and keeps
// those that another node made, for whoever fetches a ledger. It keeps the block log, signs headers, and
// drives the application through every block. It is the only writer of a ledger's files. One strand; no
// threads, no clock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/application/application.hpp"
#include "ledger/engine/engine.hpp"
#include "ledger/store/block_log.hpp"
#include "ledger/store/layout.hpp"

namespace assay::ledger {

struct ChainOptions {
    LogOptions log;
};

/// The result of an attempt to make a block.
struct Appended {
    std::optional<Committed> block;          ///< nothing when there was nothing to put into one
    std::vector<TransactionResult> refused;  ///< candidates that the rules refused; they are in no block
    std::size_t decided = 0;                 ///< how many candidates from the first on are in either
};

/// Whether to make a block without transactions: only while a deadline is pending.
enum class EmptyBlock : std::uint8_t { kSkip, kMake };

/// kUsage unless the set has one validator: the embedded engine asks no quorum.
Outcome<void> check_one_validator(const contracts::ValidatorSet& validators);

class Chain {
public:
    /// Opens the ledger in `home`, whose genesis file must exist (write_genesis makes it) and name one
    /// validator (else kUsage: several need an engine that agrees on blocks). Loads the state from the index
    /// and executes the blocks above it again. An index that does not open or does not match is deleted and
    /// rebuilt from the log (notes() says so), but only after the log was executed in memory to the roots of
    /// its headers. Checks the invariants of the whole state, so that later blocks need to check only what
    /// they change. Fails with kNotFound (no genesis) or kVerification (damaged log, acknowledged blocks
    /// missing, or blocks that this program does not execute to their roots; then the chain began under an
    /// older schema, and its index is left as it is). `disk`, `provider` and `machine` must outlive the
    /// chain.
    static Outcome<std::unique_ptr<Chain>> open(Disk& disk, KeyValueProvider& provider,
                                                const StateMachine& machine, const std::string& home,
                                                const ChainOptions& options = {});

    [[nodiscard]] const Genesis& genesis() const { return genesis_; }
    /// The validator that makes this chain's blocks.
    [[nodiscard]] const PublicKey& sequencer() const { return genesis_.validators.validators.front().key; }
    /// The application that executes the blocks.
    [[nodiscard]] Application& application() { return *application_; }
    [[nodiscard]] const Application& application() const { return *application_; }
    [[nodiscard]] std::uint64_t height() const { return application_->info().height; }
    /// Header hash at height(); the genesis hash when there is no block yet.
    [[nodiscard]] Hash256 tip() const { return application_->info().block; }
    [[nodiscard]] Hash256 state_root() const { return application_->info().app_hash; }
    /// The time of the header at height(); 0 when there is no block yet.
    [[nodiscard]] std::uint64_t time_ms() const { return application_->info().time_ms; }
    /// The state after block height(). Valid until the next append.
    [[nodiscard]] const contracts::StateView& state() const { return application_->state(); }

    Outcome<Block> block(std::uint64_t height) const;
    /// Results of a block, from the index.
    Outcome<BlockResults> results(std::uint64_t height) const;
    /// The place and result of a transaction; nothing when it is in no block.
    Outcome<std::optional<TransactionPlace>> find(const Hash256& transaction) const;

    /// Makes a signed block on top of the tip from the candidates that the application takes; returns when it
    /// is durable. After an error with stopped() false (too little free disk, or a time that
    /// check_header_time refuses) nothing has changed, and the call may be repeated. After any other error
    /// the chain is stopped: it refuses everything, and the process must end. The next open() decides what is
    /// on disk.
    Outcome<Appended> append(const std::vector<Bytes>& candidates, EmptyBlock empty, std::uint64_t time_ms,
                             const base::SecretKey& key, const ProposalLimits& limits = {});

    /// Takes the next block as its validator made it: checks all that a follower checks (check_block, header
    /// time, the rules, both roots) and returns when it is durable. kVerification when it does not follow the
    /// tip; the error names the block. stopped() and repeated calls are as for append().
    Outcome<void> adopt(const Block& block);

    [[nodiscard]] bool stopped() const { return stopped_; }
    /// What open() had to repair, one sentence each.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

private:
    Chain() = default;
    [[nodiscard]] Outcome<void> rehearse(const StateMachine& machine) const;
    Outcome<void> discard_index(const StateMachine& machine);
    Outcome<void> begin();
    Outcome<void> replay();
    /// What a block's header and certificate say, against the tip.
    [[nodiscard]] Outcome<void> check_next(const Block& block) const;
    /// Executes a block that was checked and compares its roots. Stores nothing.
    Outcome<void> execute_next(const Block& block);
    [[nodiscard]] Block sign(std::vector<Bytes> transactions, const Executed& executed, std::uint64_t time_ms,
                             const base::SecretKey& key) const;
    base::Failed<base::Error> stop(const base::Error& cause);

    Genesis genesis_;
    std::unique_ptr<BlockLog> log_;
    std::unique_ptr<Application> application_;
    bool stopped_ = false;
    std::vector<std::string> notes_;
};

}  // namespace assay::ledger
