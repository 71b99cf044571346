// SPDX-License-Identifier: Apache-2.0
// Gives the rules and miners the roster of a job after its auction: who holds a place, which places are open,
// and what a member locks for a slot. The roster of a job that leases has no places: rules/job/leased.hpp.
#pragma once

#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// It did not win the auction but took a place that was left (JobJoin).
bool is_joiner(const Job& job, const RosterEntry& entry);

/// Places of the roster that nobody holds: as many as the auction had winners, less the members that were not
/// dropped and whose keys are not revoked. None in a job that leases.
std::uint32_t open_places(const StateView& state, const Job& job);

/// The bond of a slot of the job at this price, at most its cap, for this registered miner.
Amount bond_at(const StateView& state, const Params& params, const Job& job, const PublicKey& miner,
               Amount price);
/// The same at the clearing price. REQUIRES a job whose auction was held.
Amount bond_in(const StateView& state, const Params& params, const Job& job, const PublicKey& miner);

/// Whether claims of this job hold bonds of the miner, in their windows.
bool waits_for_window(const StateView& state, const Job& job, const PublicKey& miner);
/// Whether one of the members does that was not dropped.
bool members_wait_for_window(const StateView& state, const Job& job);

/// REQUIRES that it is in the roster.
RosterEntry& roster_entry(Job& job, const PublicKey& miner);

/// Ends a member's part in the job; its place is open. Does nothing to one that was dropped before.
void drop(Work& work, const Job& job, RosterEntry& entry, Reason reason, std::uint32_t round);

}  // namespace assay::contracts
