// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/leases.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

Bytes lease_key(const Hash256& job, const PublicKey& node, std::uint64_t epoch) {
    return KeyBuilder(Table::kLease).add(job.view()).add(node.view()).add_number(epoch, 8).take();
}

std::vector<Lease> leases_at(const StateView& state, const Hash256& job, std::uint64_t height) {
    std::vector<Lease> holding;
    for (Lease& lease : list_leases(state, job))
        if (lease.from <= height && height < lease.until) holding.push_back(std::move(lease));
    return holding;
}

std::vector<Lease> list_leases(const StateView& state, const Hash256& job) {
    return list_values<Lease>(state, KeyBuilder(Table::kLease).add(job.view()).take());
}

}  // namespace assay::contracts
