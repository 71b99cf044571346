// SPDX-License-Identifier: Apache-2.0
// Gives roles the vouchers for a unit of a dead claim that they call next. It is a function of the ledger's
// state, so a role that restarts calls nobody twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/dispute/games.hpp"
#include "node/dispute/slot_difference.hpp"

namespace assay::node {

struct DueCalls {
    /// All calls that take no bond, and at most one that takes a bond, if the free stake covers it: the bond
    /// of the next call depends on it.
    std::vector<contracts::DisputeCall> calls;
    /// The bond that the free stake does not cover.
    std::optional<base::Amount> lacking;
};

/// The calls that `me` can send in the block after `height`. It calls nobody twice for one unit, and no
/// verifier that has lost a call about the claim, which has nothing left. REQUIRES that the claim of `killer`
/// died in that game.
DueCalls calls_due(const contracts::StateView& state, const base::Hash256& job, const contracts::Game& killer,
                   const DisputedUnit& unit, const base::PublicKey& me, std::uint64_t height);

/// Names a call for log and sender.
std::string name_of(const contracts::DisputeCall& call);

}  // namespace assay::node
