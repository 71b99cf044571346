// SPDX-License-Identifier: Apache-2.0
// Application is the ledger's state behind one object that any engine drives. An engine decides which
// transactions are in which block and keeps the blocks; the application executes them. The calls are those of
// ABCI 2.0, in its order:
//
//   info, begin, discard   at start: where the stored state stands; a new one; the old one deleted
//   check                  whether a transaction may wait for a block
//   prepare, process       a block to propose; a verdict on a block that was proposed
//   execute, commit        a block that was decided on: its roots, then its state made durable
//   query                  records with proofs, ranges of records, results, places of transactions
//
// Between execute and commit everything is in memory. A crash at any point leaves the store at the last
// commit or at the next, never between; the engine then asks info() and executes the missing blocks again.
// One strand; no threads, no clock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/rules/state/state.hpp"
#include "ledger/application/execute.hpp"
#include "ledger/application/machine.hpp"
#include "ledger/application/range.hpp"
#include "ledger/application/verified_state.hpp"
#include "ledger/store/block.hpp"
#include "ledger/store/genesis.hpp"
#include "ledger/store/index.hpp"

namespace assay::ledger {

/// The height and state that the application has reached.
struct ApplicationInfo {
    std::uint64_t height = 0;   ///< of the last committed block; 0 for the genesis
    Hash256 block;              ///< the name that commit() got for it; the genesis hash at height 0
    Hash256 app_hash;           ///< root of the state after it
    std::uint64_t time_ms = 0;  ///< of its header, as commit() got it; 0 at height 0
};

/// What check() found about a transaction.
struct Admission {
    TransactionInfo info;
    std::uint64_t next_nonce = 0;           ///< of its sender, after the last block
    std::optional<TransactionPlace> place;  ///< set when a block holds it already
};

/// A block as engines pass it, without the header, which is the engine's.
struct ProposedBlock {
    std::uint64_t height = 0;
    std::vector<Bytes> transactions;
};

/// Success, or why no honest validator votes for the block.
using BlockJudgement = base::Result<void, Rejection>;

/// What a block did. It is the same for everyone who executes it on the same state.
struct Executed {
    BlockResults results;
    Hash256 results_root;
    Hash256 app_hash;  ///< root of the state after it
};

struct Query {
    /// "state": the record under the key `data`, with a proof. "range": a page of the records under a prefix
    /// (encoded RangeQuery and RangeAnswer). "transaction": the place of the transaction whose id is `data`
    /// (encoded TransactionPlace). "results": the results of the block whose height is `data` (u64; encoded
    /// BlockResults). "history": the row of the history under the key `data`, as the index has it, without a
    /// proof: the state keeps its hash (contracts/rules/job/history.hpp).
    std::string path;
    Bytes data;
    std::uint64_t height = 0;  ///< of the wanted state; 0 for the last one, the only one that is kept
};

struct QueryAnswer {
    std::uint64_t height = 0;         ///< of the state that answered
    Hash256 app_hash;                 ///< its root, which `proof` leads to
    std::optional<Bytes> value;       ///< nothing when there is no such record
    std::optional<StateProof> proof;  ///< of presence or absence; path "state" only
};

/// What the store of an application holds.
enum class Stored : std::uint8_t {
    kNothing,   ///< nothing: the store is new
    kUnusable,  ///< something from which the application cannot go on; Application::notes() says why
    kState,     ///< a verified state, from which the application goes on
};

class Application {
public:
    /// Opens what `store` holds and changes nothing; stored() says what it is. Fails with kUsage when another
    /// process uses the store, and with kVerification when it holds the state of another version of the
    /// program. `store` and `machine` must outlive the application.
    static Outcome<std::unique_ptr<Application>> open(KeyValueProvider& store, const StateMachine& machine,
                                                      const Genesis& genesis);

    [[nodiscard]] Stored stored() const { return stored_; }
    /// Deletes everything that is stored, usable or not; stored() is then kNothing, and begin() must follow.
    /// No other function here deletes a state. The state may be the only copy of one that the blocks cannot
    /// make again (when the chain began under an older schema), so an engine must first check that its blocks
    /// make it.
    Outcome<void> discard();
    /// Starts at the genesis, and stores that state. Fails with kUsage, and changes nothing, unless stored()
    /// is kNothing. Everything below REQUIRES begun().
    Outcome<void> begin();
    [[nodiscard]] bool begun() const { return index_ != nullptr; }
    [[nodiscard]] ApplicationInfo info() const { return {now_.height, now_.tip, app_hash_, now_.time_ms}; }

    /// Checks a transaction for the mempool: form, signature, cost, a sender that the state knows, and an
    /// unused nonce. The mempool decides whether the nonce is next. Fails when the store cannot be read.
    Outcome<base::Result<Admission, contracts::Reason>> check(ByteView transaction) const;

    /// Makes the block to propose next. process() accepts whatever this returns, here and at every other node
    /// with this state. Fails with kVerification when the rules broke an invariant; the node must then stop.
    Outcome<Prepared> prepare(const std::vector<Bytes>& candidates, const ProposalLimits& limits = {});
    /// Judges a proposed block. Changes nothing; the engine keeps the transactions of a rejected block.
    /// Errors as for prepare().
    Outcome<BlockJudgement> process(const ProposedBlock& block);

    /// Executes a block that was decided on. Stores nothing, and may be repeated or followed by another block
    /// of the same height. Fails with kVerification when the rules reject the block; no honest quorum decides
    /// on such a block.
    Outcome<Executed> execute(const ProposedBlock& block);
    /// Makes the block executed last durable, under the engine's name for it and the time of its header.
    /// Returns when it is on disk. After an error it is unknown whether it is on disk; stopped() is true and
    /// the process must end.
    Outcome<void> commit(const Hash256& block, std::uint64_t time_ms);

    /// Answers reads of the state from outside, by clients of a node or of an engine. Fails with kNotFound
    /// for an unknown path or the state of another height, and with kUsage when `data` has the wrong form.
    Outcome<QueryAnswer> query(const Query& query);

    /// The answers of query() for "results" and "transaction", for an engine in the same process.
    Outcome<std::optional<BlockResults>> results(std::uint64_t height) const {
        return index_->results(height);
    }
    Outcome<std::optional<TransactionPlace>> find(const Hash256& transaction) const {
        return index_->find(transaction);
    }
    /// The answer of query() for "history".
    Outcome<std::optional<Bytes>> history(ByteView key) const { return index_->history(key); }

    /// The next height at which something happens without a transaction; engines make blocks up to it, empty
    /// ones if needed.
    [[nodiscard]] std::optional<std::uint64_t> next_deadline() const {
        return machine_.next_deadline(now_.state);
    }
    /// The state after the last commit, for the process that drives the application. Valid until the next
    /// one.
    [[nodiscard]] const contracts::StateView& state() const { return now_.state; }
    /// The hashes computed for the state's root since it was opened. For measurements.
    [[nodiscard]] const StateTree::Hashed& hashed() const { return now_.tree.hashed(); }
    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

private:
    using Changes = std::map<Bytes, std::optional<Bytes>>;
    /// A block whose transactions were executed already, so that execute() does not repeat it.
    struct Candidate {
        std::uint64_t height = 0;
        Hash256 transactions;  ///< transactions_root
        BlockResults results;
        Changes changes;
        contracts::History history;  ///< what left the state
    };
    /// A block that was executed and not committed. The tree is that after the block; the state is not.
    struct Pending {
        Candidate block;
        Hash256 app_hash;
        StateTree::Undo undo;
    };

    Application(KeyValueProvider& store, const StateMachine& machine, const Genesis& genesis)
        : store_(store), machine_(machine), genesis_(genesis) {}
    [[nodiscard]] Position next_position() const { return {genesis_.chain_id, now_.height + 1}; }
    /// Executes the block unless it is the candidate. Returns the verdict; an accepted block becomes the
    /// candidate.
    Outcome<BlockJudgement> run(const ProposedBlock& block);
    void drop_pending();
    Outcome<QueryAnswer> prove(ByteView key);

    KeyValueProvider& store_;
    const StateMachine& machine_;
    Genesis genesis_;
    Stored stored_ = Stored::kNothing;
    std::unique_ptr<Index> index_;
    VerifiedState now_;
    Hash256 app_hash_;
    std::optional<Candidate> candidate_;
    std::optional<Pending> pending_;
    bool stopped_ = false;
    std::vector<std::string> notes_;
};

}  // namespace assay::ledger
