// SPDX-License-Identifier: Apache-2.0
// The states before a chain's blocks, which no node keeps, for questions about the past. The blocks are
// executed again, and each is checked as in an audit.
#pragma once

#include <functional>

#include "ledger/application/machine.hpp"
#include "ledger/audit/evidence.hpp"
#include "ledger/store/genesis.hpp"

namespace assay::ledger {

/// Called with the state before the block at `position`, which is valid during the call. An error ends the
/// walk.
using StateVisitor =
    std::function<Outcome<void>(const contracts::StateView& before, const Position& position)>;

/// Visits the states before the blocks 1 to `last` + 1; the last of these blocks need not exist. Fails with
/// kVerification when a block does not follow the one before, or executing it gives other roots than its
/// header has. Does not check invariants of the whole state.
Outcome<void> visit_states(const StateMachine& machine, const Genesis& genesis, const BlockReader& read,
                           std::uint64_t last, const StateVisitor& visit);

}  // namespace assay::ledger
