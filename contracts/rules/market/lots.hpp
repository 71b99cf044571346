// SPDX-License-Identifier: Apache-2.0
// The changes of a lot, for the market: leased, left for instant leases, free again, gone. Each function
// keeps the lease, the lot and the list of left lots consistent. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Stores the lease and the lot. REQUIRES that nobody leases the node in that epoch, and that no lot of it is
/// left in it.
void lease_lot(Work& work, const Lease& lease, Amount ask);
/// The heights [from, until) of an epoch.
struct LotTime {
    std::uint64_t epoch = 0;
    std::uint64_t from = 0;
    std::uint64_t until = 0;
};
/// Leases the left lots of `nodes` to a job at the epoch's base price. REQUIRES `wish.lots` nodes, each with
/// a left lot of that class.
void lease_left_lots(Work& work, const Hash256& job, const LotWait& wish, const std::vector<PublicKey>& nodes,
                     const LotTime& span);
/// Leaves a lot for instant leases of the epoch, if its ask is not above the class's base price there.
void leave_lot(State& state, std::uint64_t epoch, const PublicKey& node, const LotClass& kind, Amount ask);
/// Removes the lot from the epoch, whether it is leased or left; does nothing when there is none.
void remove_lot(State& state, std::uint64_t epoch, const PublicKey& node);

/// The epoch in which the node has a lot that nobody leases and that it may withdraw: the next epoch during
/// the notice, or the running one while the clock is stopped, since that epoch may last for ever. Nothing
/// when there is none.
std::optional<std::uint64_t> withdrawable_epoch(const StateView& state, const PublicKey& node);

/// Settles the deposit behind the class of a node (settle_class_deposit) if the node is no longer offered or
/// leased.
void settle_if_idle(Work& work, const PublicKey& node, program::Profile profile);

/// Ends the leases of a job that is over; its lots are left for others until their epoch ends. Does nothing
/// for any other job. The rules' entry points call it after anything that may have ended a job.
void free_lots_of_ended_job(Work& work, const Hash256& job);
/// Removes the ask of a node whose key was revoked, and its lots that nobody leases. Called by the rules'
/// entry points.
void drop_lots_of_revoked(Work& work, const PublicKey& node);

}  // namespace assay::contracts
