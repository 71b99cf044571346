// SPDX-License-Identifier: Apache-2.0
// Gives roles whom they call next of those who vouched for a unit of a dead claim. A function of the ledger's
// state: a role that starts again calls nobody twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/dispute/games.hpp"
#include "node/dispute/slot_difference.hpp"

namespace assay::node {

struct DueCalls {
    /// Those that take no bond together; of those that take one a single one, as far as the free stake
    /// reaches: the next one's bond depends on it.
    std::vector<contracts::DisputeCall> calls;
    /// The bond that the free stake does not reach for.
    std::optional<base::Amount> lacking;
};

/// What `me` can send in the block behind `height`. Nobody is called twice for one unit, nor who has lost a
/// call about the claim: it has nothing left. REQUIRES that the claim of `killer` died in that game.
DueCalls calls_due(const contracts::StateView& state, const base::Hash256& job, const contracts::Game& killer,
                   const DisputedUnit& unit, const base::PublicKey& me, std::uint64_t height);

/// Names a call for log and sender.
std::string name_of(const contracts::DisputeCall& call);

}  // namespace assay::node
