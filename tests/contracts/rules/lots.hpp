// SPDX-License-Identifier: Apache-2.0
// Gives tests of jobs the one place that makes leases without a market.
#pragma once

#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts::test {

/// The lot is the job's from here on, as if it had won it.
inline void grant_lease(State& state, const Lease& lease) {
    store(state, lease_key(lease.job, lease.node, lease.epoch), lease);
}

/// What the market forgets of a job when an epoch is over.
inline void forget_leases(State& state, const Hash256& job, std::uint64_t height) {
    for (const Lease& lease : list_leases(state, job))
        if (lease.until <= height) state.erase(lease_key(job, lease.node, lease.epoch));
}

}  // namespace assay::contracts::test
