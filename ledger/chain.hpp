// SPDX-License-Identifier: Apache-2.0
// Chain: block log + state + tree + index under one roof. It is the only writer of a ledger's files. One
// strand; no threads, no clock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/state/state.hpp"
#include "ledger/block.hpp"
#include "ledger/block_log.hpp"
#include "ledger/verified_state.hpp"

namespace assay::ledger {

/// Files of a ledger under a home directory.
struct Layout {
    explicit Layout(const std::string& home)
        : directory(home + "/ledger"),
          log(directory + "/blocks.log"),
          index(directory + "/index"),
          genesis(directory + "/genesis.bin") {}
    std::string directory, log, index, genesis;
};

struct ChainOptions {
    LogOptions log;
};

/// A block that is durable, with what it did.
struct Committed {
    Header header;
    Hash256 hash;  ///< header hash
    BlockResults results;
};

/// What became of an attempt to make a block.
struct Appended {
    std::optional<Committed> block;          ///< nothing when there was nothing to put into one
    std::vector<TransactionResult> refused;  ///< candidates that the rules refused: they are in no block
};

/// Whether a block without transactions is worth making: yes while a deadline is pending.
enum class EmptyBlock : std::uint8_t { kSkip, kMake };

class Chain {
public:
    /// Opens the ledger in `home`, whose genesis file must exist (write_genesis makes it). State is loaded
    /// from the index and the blocks above it are executed again; an index that refuses or disagrees is
    /// deleted and rebuilt from the log (notes() says so). The invariants of the whole state are checked
    /// here, so that later blocks need to check only what they change. Errors: kNotFound (no genesis),
    /// kVerification (damaged log, a state root that execution does not reproduce, acknowledged blocks
    /// missing). `disk`, `provider` and `machine` must outlive the chain.
    static Outcome<std::unique_ptr<Chain>> open(Disk& disk, KeyValueProvider& provider,
                                                const StateMachine& machine, const std::string& home,
                                                const ChainOptions& options = {});

    [[nodiscard]] const Genesis& genesis() const { return genesis_; }
    [[nodiscard]] std::uint64_t height() const { return now_.height; }
    /// Header hash at height(); the genesis hash when there is no block yet.
    [[nodiscard]] const Hash256& tip() const { return now_.tip; }
    [[nodiscard]] Hash256 state_root() const { return now_.tree.root(); }
    /// The state after block height(). Valid until the next append.
    [[nodiscard]] const contracts::StateView& state() const { return now_.state; }
    [[nodiscard]] StateProof prove(ByteView key) const { return now_.tree.prove(key); }
    /// What the state's root has cost since the chain was opened. For measurements.
    [[nodiscard]] const StateTree::Hashed& hashed() const { return now_.tree.hashed(); }

    Outcome<Block> block(std::uint64_t height) const;
    /// Results of a block, from the index.
    Outcome<BlockResults> results(std::uint64_t height) const;
    /// Where a transaction is and what became of it; nothing when it is in no block.
    Outcome<std::optional<TransactionPlace>> find(const Hash256& transaction) const;

    /// Executes `candidates` on top of the tip and makes a signed block of those that the rules accept;
    /// returns when it is durable. An error with stopped() false (too little free disk) changed nothing and
    /// may be tried again. After any other error the chain is stopped: everything is refused and the process
    /// must end (what is on disk is decided at the next open).
    Outcome<Appended> append(const std::vector<Bytes>& candidates, EmptyBlock empty, std::uint64_t time_ms,
                             const base::SecretKey& key);

    [[nodiscard]] bool stopped() const { return stopped_; }
    /// What open() had to repair, one sentence each.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
    [[nodiscard]] const StateMachine& machine() const { return machine_; }

private:
    explicit Chain(const StateMachine& machine) : machine_(machine) {}
    Outcome<bool> load_index(KeyValueProvider& provider);
    Outcome<void> rebuild_index(KeyValueProvider& provider);
    Outcome<void> replay();
    Outcome<void> commit(const Header& header, const BlockResults& results,
                         const contracts::Overlay& overlay);
    base::Failed<base::Error> stop(const base::Error& cause);

    const StateMachine& machine_;
    Genesis genesis_;
    std::unique_ptr<BlockLog> log_;
    std::unique_ptr<Index> index_;
    VerifiedState now_;
    bool stopped_ = false;
    std::vector<std::string> notes_;
};

/// A block executed over an overlay, not yet committed.
struct Execution {
    std::vector<Bytes> included;             ///< what the block holds
    BlockResults results;                    ///< of `included`
    std::vector<TransactionResult> refused;  ///< only with Refused::kLeaveOut
};
enum class Refused : std::uint8_t {
    kLeaveOut,  ///< proposing: a refused transaction does not get into the block
    kForbid,    ///< replaying: a block that holds one breaks the rules (decision 10)
};

/// begin_block, every transaction, and the invariants of what they changed in the state under `overlay`,
/// which must have held there. Error kVerification names the broken invariant, or with Refused::kForbid the
/// first transaction that the rules refuse.
Outcome<Execution> execute(const StateMachine& machine, contracts::Overlay& overlay, const Position& position,
                           const std::vector<Bytes>& transactions, Refused refused);

/// Executes a stored block again and checks that the rules take every transaction, results root and state
/// root; changes `state` and, unless a transaction is refused, `tree`. The caller has run check_block.
Outcome<BlockResults> replay_block(const StateMachine& machine, contracts::MemoryState& state,
                                   StateTree& tree, const std::string& chain_id, const Block& block,
                                   std::map<Bytes, std::optional<Bytes>>* changes = nullptr);

}  // namespace assay::ledger
