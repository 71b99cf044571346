// SPDX-License-Identifier: Apache-2.0
// Gives the check of a state the sum over bonded stake and over what locks it. Internal to the rules.
#pragma once

#include <map>
#include <optional>

#include "contracts/base/wide.hpp"
#include "contracts/rules/claim_invariants.hpp"
#include "contracts/rules/identity/records.hpp"

namespace assay::contracts {

/// Node key -> bonded stake less what is locked by open claims and enlistments; all zero when it holds. Of
/// two states: what the change from one to the other adds to it.
using Bonds = std::map<PublicKey, base::Int128>;
inline constexpr int kAdd = 1;
inline constexpr int kSubtract = -1;

void count_stake(Bonds& bonds, const PublicKey& node, const Stake& stake, int sign);
/// What a job locks beside its claims and games.
void count_locked_by_job(Bonds& bonds, const StateView& state, const Hash256& id, int sign);
/// What a record locks, if it is a claim or a game.
void count_locked_by(Bonds& bonds, ByteView key, const std::optional<Bytes>& record, int sign);
InvariantResult check_bonds(const Bonds& bonds);

}  // namespace assay::contracts
