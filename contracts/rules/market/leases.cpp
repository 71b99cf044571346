// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/leases.hpp"

#include <algorithm>

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

Bytes lease_key(const Hash256& job, const PublicKey& node, std::uint64_t epoch) {
    return KeyBuilder(Table::kLease).add(job.view()).add(node.view()).add_number(epoch, 8).take();
}

std::vector<Lease> list_leases(const StateView& state, const Hash256& job) {
    return list_values<Lease>(state, KeyBuilder(Table::kLease).add(job.view()).take());
}

std::vector<Lease> leases_at(const StateView& state, const Hash256& job, std::uint64_t height) {
    std::vector<Lease> held = list_leases(state, job);
    std::erase_if(held, [&](const Lease& lease) { return height < lease.from || height >= lease.until; });
    return held;
}

std::uint32_t count_leases(const StateView& state, const Hash256& job, std::uint64_t epoch) {
    const std::vector<Lease> all = list_leases(state, job);
    return static_cast<std::uint32_t>(
        std::count_if(all.begin(), all.end(), [&](const Lease& lease) { return lease.epoch == epoch; }));
}

std::optional<Lease> read_lease(const StateView& state, const Hash256& job, const PublicKey& node,
                                std::uint64_t epoch) {
    return load<Lease>(state, lease_key(job, node, epoch));
}

}  // namespace assay::contracts
