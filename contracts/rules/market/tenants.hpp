// SPDX-License-Identifier: Apache-2.0
// Gives the market the count of lots that each owner of jobs was entitled to, and got: ties and idle lots go
// to whom most is owed. Internal to the rules.
#pragma once

#include <map>

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

struct TenantShare {
    std::uint64_t wanted = 0;  ///< lots it bid for
    std::uint64_t got = 0;
};
/// Of one class in one epoch, by owner.
using TenantShares = std::map<PublicKey, TenantShare>;

/// Thousandths of a lot to which each is entitled of `sold` lots: equal shares, of which nobody has more than
/// it wanted; what one does not want is the others'.
std::map<PublicKey, std::uint64_t> entitlements(const TenantShares& shares, std::uint64_t sold);

/// Adds an epoch of a class.
void count_shares(State& state, const LotClass& kind, const TenantShares& shares);
/// Adds lots that it leased behind the clearing.
void count_received(State& state, const PublicKey& owner, const LotClass& kind, std::uint64_t lots);
/// Halves what everybody was entitled to and got.
void halve_tenants(State& state);

}  // namespace assay::contracts
