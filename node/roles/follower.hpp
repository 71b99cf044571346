// SPDX-License-Identifier: Apache-2.0
// Follower: a role's own copy of the ledger's state. It executes every block itself and compares the roots,
// so a role acts on nothing that a ledger node merely says.
#pragma once

#include "contracts/rules/events.hpp"
#include "contracts/rules/state.hpp"
#include "ledger/genesis.hpp"
#include "ledger/machine.hpp"
#include "ledger/state_tree.hpp"

namespace assay::node {

class Follower {
public:
    /// Starts before block 1. kVerification when the rules refuse the genesis.
    static base::Outcome<Follower> create(const ledger::Genesis& genesis);

    /// Executes the next block. kVerification (wrong signature, parent, root, invariant): a ledger that
    /// offers such a block must not be followed further.
    base::Outcome<contracts::Events> apply(base::ByteView encoded_block);

    [[nodiscard]] const contracts::StateView& state() const { return state_; }
    [[nodiscard]] const std::string& chain_id() const { return genesis_.chain_id; }
    [[nodiscard]] std::uint64_t height() const { return height_; }
    [[nodiscard]] base::Hash256 state_root() const { return tree_.root(); }

private:
    Follower() = default;

    ledger::Genesis genesis_;
    contracts::MemoryState state_;
    ledger::StateTree tree_;
    std::uint64_t height_ = 0;
    base::Hash256 tip_;
};

}  // namespace assay::node
