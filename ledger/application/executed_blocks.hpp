// SPDX-License-Identifier: Apache-2.0
// A cache of executed blocks, for a process that follows one chain many times in one thread, as a simulation
// does. Each block is checked and executed once, not once for each follower.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "contracts/rules/state/events.hpp"
#include "contracts/rules/state/state.hpp"
#include "ledger/application/verified_state.hpp"

namespace assay::ledger {

/// A block that passed every check on top of a verified state, and what it did to that state.
struct ExecutedBlock {
    Hash256 tip, state_root;  ///< of the state before it
    Bytes block;              ///< encoded
    std::map<Bytes, std::optional<Bytes>> changes;
    contracts::History history;  ///< what it handed over
    StateTree tree;              ///< of the state after it
    Hash256 hash;                ///< of its header
    std::uint64_t time_ms = 0;   ///< of its header
    contracts::Events events;

    /// Turns the state before the block into the state after it. REQUIRES the state before it.
    void apply_to(VerifiedState& state) const;
};

/// While one exists, followers in its thread ask it first. A hit is exact: the state under a block is
/// identified by the hash of its last block, which leads to the genesis, and by its root, and the block's
/// bytes are compared whole. A second object takes the place of the first while it exists.
class ExecutedBlocks {
public:
    ExecutedBlocks();
    ExecutedBlocks(const ExecutedBlocks&) = delete;
    ExecutedBlocks& operator=(const ExecutedBlocks&) = delete;
    ~ExecutedBlocks();

    /// The cache of this thread; null when there is none.
    static ExecutedBlocks* of_this_thread();

    /// Null when this block was not executed on this state, or too long ago.
    [[nodiscard]] std::shared_ptr<const ExecutedBlock> find(const VerifiedState& before,
                                                            ByteView block) const;
    /// Adds a block. REQUIRES that it passed every check.
    void remember(ExecutedBlock executed);

private:
    ExecutedBlocks* before_;
    std::deque<std::shared_ptr<const ExecutedBlock>> executed_;  ///< the last one first
};

}  // namespace assay::ledger
