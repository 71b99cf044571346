// SPDX-License-Identifier: Apache-2.0
// Gives whoever asks about the past the states before a chain's blocks, which no node keeps: they are
// executed again, and each block is checked as an audit checks it.
#pragma once

#include <functional>

#include "ledger/application/machine.hpp"
#include "ledger/audit/evidence.hpp"
#include "ledger/store/genesis.hpp"

namespace assay::ledger {

/// Is shown the state before the block at `position`, which lives as long as the call. An error ends the
/// walk.
using StateVisitor =
    std::function<Outcome<void>(const contracts::StateView& before, const Position& position)>;

/// Visits the states before the blocks 1 to `last` + 1, of which the last need not be there. kVerification: a
/// block is not the one that follows, or executing it gives other roots than its header has. Invariants of
/// the whole state are not checked.
Outcome<void> visit_states(const StateMachine& machine, const Genesis& genesis, const BlockReader& read,
                           std::uint64_t last, const StateVisitor& visit);

}  // namespace assay::ledger
