// SPDX-License-Identifier: Apache-2.0
// Gives the market the movements of a lot: leased, left for instant leases, free again, gone. Each keeps the
// lease, the lot and the list of lots that are left together. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// REQUIRES that nobody leases the node in that epoch, and that no lot of it is left in it.
void lease_lot(Work& work, const Lease& lease, Amount ask);
/// The heights [from, until) of an epoch.
struct LotTime {
    std::uint64_t epoch = 0;
    std::uint64_t from = 0;
    std::uint64_t until = 0;
};
/// Leases what is left to a job at the epoch's base price. REQUIRES that each of `nodes`, as many as
/// `wish.lots`, has a lot of that class which is left.
void lease_left_lots(Work& work, const Hash256& job, const LotWait& wish, const std::vector<PublicKey>& nodes,
                     const LotTime& span);
/// Leaves a lot for instant leases of the epoch, if its ask is not above the class's base price there.
void leave_lot(State& state, std::uint64_t epoch, const PublicKey& node, const LotClass& kind, Amount ask);
/// Takes the lot out of the epoch, leased or left; does nothing where there is none.
void remove_lot(State& state, std::uint64_t epoch, const PublicKey& node);

/// The epoch in which the node has a lot that nobody leases and that has not begun, or may last for ever
/// because the clock stands still. Nothing: none.
std::optional<std::uint64_t> withdrawable_epoch(const StateView& state, const PublicKey& node);

/// What is held behind the class of a node that is neither offered nor leased any more is settled.
void settle_if_idle(Work& work, const PublicKey& node, program::Profile profile);

/// The leases of a job that is over end: its lots are left for others till their epoch ends. Does nothing
/// for another job. For the rules' entry, after whatever may have ended a job.
void free_lots_of_ended_job(Work& work, const Hash256& job);
/// A node whose key is revoked offers no more: its ask, and a lot that nobody leases yet, go. For the rules'
/// entry.
void drop_lots_of_revoked(Work& work, const PublicKey& node);

}  // namespace assay::contracts
