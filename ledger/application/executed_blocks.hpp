// SPDX-License-Identifier: Apache-2.0
// Gives a process that follows one chain many times in one thread, as a simulation does, a memory of the
// blocks that it executed: each is checked and executed once and not once for each follower.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "contracts/rules/state/events.hpp"
#include "contracts/rules/state/state.hpp"
#include "ledger/application/verified_state.hpp"

namespace assay::ledger {

/// A block that passed every check on top of a verified state, and what it made of it.
struct ExecutedBlock {
    Hash256 tip, state_root;  ///< of the state before it
    Bytes block;              ///< encoded
    std::map<Bytes, std::optional<Bytes>> changes;
    contracts::History history;  ///< what it handed over
    StateTree tree;              ///< of the state after it
    Hash256 hash;                ///< of its header
    std::uint64_t time_ms = 0;   ///< of its header
    contracts::Events events;

    /// REQUIRES the state before it. Everything of `state` is then that after it.
    void apply_to(VerifiedState& state) const;
};

/// While one lives, followers of its thread ask it first. What it answers is exact: the state that a block
/// stands on is named by its last block, whose hash leads to the genesis, and by its root, and the block's
/// bytes are compared whole. One inside another's life takes its place.
class ExecutedBlocks {
public:
    ExecutedBlocks();
    ExecutedBlocks(const ExecutedBlocks&) = delete;
    ExecutedBlocks& operator=(const ExecutedBlocks&) = delete;
    ~ExecutedBlocks();

    /// Null: this thread remembers none.
    static ExecutedBlocks* of_this_thread();

    /// Null: this block was not executed on this state, or long ago.
    [[nodiscard]] std::shared_ptr<const ExecutedBlock> find(const VerifiedState& before,
                                                            ByteView block) const;
    /// REQUIRES a block that passed every check.
    void remember(ExecutedBlock executed);

private:
    ExecutedBlocks* before_;
    std::deque<std::shared_ptr<const ExecutedBlock>> executed_;  ///< the last one first
};

}  // namespace assay::ledger
