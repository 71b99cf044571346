// SPDX-License-Identifier: Apache-2.0
// VerifiedState is the state after a block whose predecessors were all executed, with its tree. The ledger's
// chain and every role's follower have one, and keep it in an index from which they start.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ledger/application/machine.hpp"
#include "ledger/store/genesis.hpp"
#include "ledger/store/index.hpp"
#include "ledger/store/state_tree.hpp"

namespace assay::ledger {

struct VerifiedState {
    contracts::MemoryState state;
    StateTree tree;
    std::uint64_t height = 0;
    Hash256 tip;                ///< header hash at `height`; the genesis hash before block 1
    std::uint64_t time_ms = 0;  ///< of the header at `height`; 0 before block 1

    /// What an index records about it.
    [[nodiscard]] IndexHead head(const Hash256& genesis) const {
        return {kIndexSchema, genesis, height, tip, tree.root(), time_ms};
    }
};

/// The state before block 1, every invariant checked. Errors as StateMachine::genesis.
Outcome<VerifiedState> genesis_state(const StateMachine& machine, const Genesis& genesis);

struct StoredState {
    std::unique_ptr<Index> index;        ///< open and at the height of `state`; null when it cannot be used
    std::optional<VerifiedState> state;  ///< present exactly when `index` is
    std::string fault;                   ///< why it cannot be used; empty when there is nothing stored yet
};

/// Loads what `provider` holds. Accepts it when it opens, has this schema and this genesis, its state has the
/// root that its head names, and every invariant holds. It cannot be used when one of these does not hold or
/// reading it gives kVerification (damage). Every other failure to open or read it says nothing about what is
/// stored and ends the call, with the error of `provider`: kUsage when another process uses it, kFailure for
/// a full disk, no free descriptor, or a disk that cannot be read. Fails with kVerification when it is the
/// state of a program with another schema. After an error everything is left as it is.
Outcome<StoredState> load_state(KeyValueProvider& provider, const StateMachine& machine,
                                const Genesis& genesis);

/// Stores `state` in an empty store. REQUIRES that no opened store is alive.
Outcome<std::unique_ptr<Index>> store_first(KeyValueProvider& provider, const VerifiedState& state,
                                            const Genesis& genesis);

/// Deletes what `provider` holds and begins anew with `state`. REQUIRES that no opened store is alive.
Outcome<std::unique_ptr<Index>> store_anew(KeyValueProvider& provider, const VerifiedState& state,
                                           const Genesis& genesis);

}  // namespace assay::ledger
