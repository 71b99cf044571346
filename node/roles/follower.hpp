// SPDX-License-Identifier: Apache-2.0
// Gives roles Follower, their own copy of the ledger's state. It executes every block itself and compares the
// roots, so a role trusts no ledger node. It keeps the state that it has verified in its own store, and
// starts from there.
#pragma once

#include <string>
#include <vector>

#include "contracts/rules/state/events.hpp"
#include "ledger/application/executed_blocks.hpp"
#include "ledger/application/verified_state.hpp"

namespace assay::node {

class Follower {
public:
    /// Starts before block 1, in memory only. kVerification when the rules refuse the genesis.
    static base::Outcome<Follower> create(const ledger::Genesis& genesis);

    /// Starts from the state in `store` and writes every block's changes there, all or nothing. A new store
    /// starts before block 1. A store that is damaged, of another genesis, or whose state does not have the
    /// root that it names cannot be used: the follower then starts before block 1, and replaces the store
    /// once block 1 has given the root that its header names. If block 1 does not, the store is left as it
    /// is, because a chain that began under an older schema cannot be followed from its first block. When a
    /// store cannot be written, the follower goes on in memory. take_notes() reports all this. `store`
    /// outlives the follower and is used by nobody else. kUsage when another process uses it. Every other
    /// failure to open or read it that is no damage (ledger::load_state) is an error too, and touches
    /// nothing.
    static base::Outcome<Follower> open(const ledger::Genesis& genesis, ledger::KeyValueProvider& store);

    /// Executes the next block. kVerification (wrong signature, parent, root, invariant): a ledger that
    /// offers such a block must not be followed further. If this thread remembers the executed block
    /// (ledger::ExecutedBlocks), takes its effects from there.
    base::Outcome<contracts::Events> apply(base::ByteView encoded_block);

    [[nodiscard]] const contracts::StateView& state() const { return now_.state; }
    /// A row of the history of this state, from memory or from the store. Nothing when neither has it.
    [[nodiscard]] std::optional<base::Bytes> history(base::ByteView key) const;
    [[nodiscard]] const std::string& chain_id() const { return genesis_.chain_id; }
    [[nodiscard]] std::uint64_t height() const { return now_.height; }
    [[nodiscard]] base::Hash256 state_root() const { return now_.tree.root(); }
    /// What became of the store since the last call, one sentence each, for the log.
    std::vector<std::string> take_notes();

private:
    Follower() = default;
    /// Checks and executes the next block: now_ is the state after it.
    base::Outcome<ledger::ExecutedBlock> execute(base::ByteView encoded_block);
    /// Begins the store anew with the state as it is.
    base::Outcome<void> begin_store(ledger::KeyValueProvider& store);
    void give_up_store(const base::Error& why);
    void keep(const std::map<base::Bytes, std::optional<base::Bytes>>& changes);
    /// Forgets the history in memory: the store has it now.
    void drop_history() { (void)now_.state.take_history(); }

    ledger::Genesis genesis_;
    ledger::VerifiedState now_;
    std::unique_ptr<ledger::Index> store_;          ///< null: in memory only
    ledger::KeyValueProvider* unusable_ = nullptr;  ///< begun anew after block 1
    std::uint64_t loaded_ = 0;  ///< height of the state that the store held; 0 when it held none
    std::vector<std::string> notes_;
};

}  // namespace assay::node
