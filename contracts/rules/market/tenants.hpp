// SPDX-License-Identifier: Apache-2.0
// The count of lots to which each owner of jobs was entitled, and that it got, for the market. Ties and idle
// lots go to the owner that is owed most. Internal to the rules.
#pragma once

#include <map>

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

struct TenantShare {
    std::uint64_t wanted = 0;  ///< lots for which it bid
    std::uint64_t got = 0;
};
/// The shares in one class in one epoch, by owner.
using TenantShares = std::map<PublicKey, TenantShare>;

/// The thousandths of a lot to which each owner is entitled when `sold` lots are sold. Shares are equal, but
/// nobody gets more than it wanted; what one does not want goes to the others.
std::map<PublicKey, std::uint64_t> entitlements(const TenantShares& shares, std::uint64_t sold);

/// Adds the shares of one epoch of a class.
void count_shares(State& state, const LotClass& kind, const TenantShares& shares);
/// Adds lots that it leased after the clearing.
void count_received(State& state, const PublicKey& owner, const LotClass& kind, std::uint64_t lots);
/// Halves what everybody was entitled to and got.
void halve_tenants(State& state);

}  // namespace assay::contracts
