// SPDX-License-Identifier: Apache-2.0
// Compares bonded stake with what locks it, for the check of a state. Internal to the rules.
#pragma once

#include <map>
#include <optional>

#include "contracts/base/wide.hpp"
#include "contracts/rules/claim_invariants.hpp"
#include "contracts/rules/identity/records.hpp"

namespace assay::contracts {

/// Node key -> bonded stake minus what open claims and enlistments lock. The invariant holds when all are
/// zero. For a change between two states, the map holds what the change adds to each difference.
using Bonds = std::map<PublicKey, base::Int128>;
inline constexpr int kAdd = 1;
inline constexpr int kSubtract = -1;

void count_stake(Bonds& bonds, const PublicKey& node, const Stake& stake, int sign);
/// Counts what a job locks apart from its claims and games.
void count_locked_by_job(Bonds& bonds, const StateView& state, const Hash256& id, int sign);
/// Counts what a record locks if it is a claim or a game.
void count_locked_by(Bonds& bonds, ByteView key, const std::optional<Bytes>& record, int sign);
InvariantResult check_bonds(const Bonds& bonds);

}  // namespace assay::contracts
