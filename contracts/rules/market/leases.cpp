// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/leases.hpp"

#include <algorithm>

#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// Whether the machine of a lease can hold a slot, as the dealing asks it (round/deal.cpp) between rounds,
/// and counting what it has locked already.
bool works(const StateView& state, const Params& params, const Job& job, const Lease& lease) {
    if (required(read_node_key(state, lease.node)).revoked || lease.price > job.spec.market.max_price)
        return false;
    const auto member = std::find_if(job.roster.begin(), job.roster.end(),
                                     [&](const RosterEntry& entry) { return entry.node == lease.node; });
    if (member != job.roster.end()) {
        if (member->dropped && lease.from <= required(read_dropped_at(state, job.id, lease.node)))
            return false;
        if (!member->locked.is_zero()) return true;
    }
    return has_bond_at(state, params, job, lease.node, lease.price);
}

}  // namespace

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

std::uint32_t count_working_lots(const StateView& state, const Job& job, std::uint64_t epoch) {
    const Params params = params_of(state, job);
    const std::vector<Lease> all = list_leases(state, job.id);
    return static_cast<std::uint32_t>(std::count_if(all.begin(), all.end(), [&](const Lease& lease) {
        return lease.epoch == epoch && works(state, params, job, lease);
    }));
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
