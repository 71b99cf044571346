// SPDX-License-Identifier: Apache-2.0
// Gives tests of jobs the one place that makes leases without a market.
#pragma once

#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts::test {

/// The lot is the job's from here on, as if it had won it. What the node was leased for before in the running
/// epoch, which stands still, is over.
inline void grant_lease(State& state, Lease lease) {
    lease.epoch = read_market_clock(state).epoch;
    if (const auto before = read_lot(state, lease.epoch, lease.node))
        state.erase(lease_key(before->job, lease.node, lease.epoch));
    store(state, lease_key(lease.job, lease.node, lease.epoch), lease);
    store(state, lot_key(lease.epoch, lease.node), Lot{lease.job, lease.kind, lease.price});
}

}  // namespace assay::contracts::test
