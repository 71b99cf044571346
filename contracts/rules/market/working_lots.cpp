// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/working_lots.hpp"

#include <algorithm>

#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/judges.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

bool can_work(const StateView& state, const Params& params, const Job& job, const Lease& lease,
              const std::vector<PublicKey>& judges) {
    if (required(read_node_key(state, lease.node)).revoked || lease.price > job.spec.market.max_price)
        return false;
    const auto member = std::find_if(job.roster.begin(), job.roster.end(),
                                     [&](const RosterEntry& entry) { return entry.node == lease.node; });
    const bool dropped = member != job.roster.end() && member->dropped &&
                         lease.from <= required(read_dropped_at(state, job.id, lease.node));
    if (dropped) return false;
    const bool judged =
        judges.size() < params.panel_owners_least || can_be_judged(judges, lease.owner, params);
    return judged && has_bond_at(state, params, job, lease.node, lease.price);
}

std::uint32_t count_working_lots(const StateView& state, const Job& job, std::uint64_t epoch) {
    const Params params = params_of(state, job);
    const std::vector<PublicKey> judges = owners_of_judges(state, job);
    const std::vector<Lease> all = list_leases(state, job.id);
    return static_cast<std::uint32_t>(std::count_if(all.begin(), all.end(), [&](const Lease& lease) {
        return lease.epoch == epoch && can_work(state, params, job, lease, judges);
    }));
}

}  // namespace assay::contracts
