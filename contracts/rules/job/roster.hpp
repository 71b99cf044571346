// SPDX-License-Identifier: Apache-2.0
// The roster of a job after its auction, for the rules and miners: who holds a place, how many places are
// open, and what a member locks for a slot. The roster of a job that leases has no places:
// rules/job/leased.hpp.
#pragma once

#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Whether it did not win the auction but took an open place (JobJoin).
bool is_joiner(const Job& job, const RosterEntry& entry);

/// Whether a member may hold slots: it was not dropped, and its key is not revoked.
bool is_member(const StateView& state, const RosterEntry& entry);

/// The number of open places in the roster: the number of the auction's winners minus the members that hold
/// their places. A member holds its place while it has the bond of one slot: free, or locked in a claim of
/// this job, or locked since it joined. 0 in a job that leases, and before the auction.
std::uint32_t open_places(const StateView& state, const Job& job);

/// Makes room for a joiner: where there are as many members as places, drops the last one that does not hold
/// its place. REQUIRES that a place is open.
void vacate_place(Work& work, const Job& job);
/// Drops all who do not hold their places: members without a bond, and those whose keys are revoked.
void drop_absent(Work& work, Job& job);

/// The bond of a slot of the job for this miner at this price. REQUIRES a registered miner and a price at
/// most the job's cap.
Amount bond_at(const StateView& state, const Params& params, const JobTerms& job, const PublicKey& miner,
               Amount price);
/// The free stake that a miner needs to seal an ask: the deposit, and the bond of a slot at the job's cap,
/// which it needs when the auction is held. REQUIRES as bond_at.
Amount stake_to_ask(const StateView& state, const Params& params, const JobTerms& job,
                    const PublicKey& miner);
/// The same at the clearing price. REQUIRES a job whose auction was held.
Amount bond_in(const StateView& state, const Params& params, const Job& job, const PublicKey& miner);

/// Whether the miner has the bond of a slot at this price: free, or in a claim of this job in its window.
/// REQUIRES as bond_at.
bool has_bond_at(const StateView& state, const Params& params, const Job& job, const PublicKey& miner,
                 Amount price);

/// Whether claims of this job in their windows hold bonds of the miner.
bool waits_for_window(const StateView& state, const Job& job, const PublicKey& miner);
/// Whether this is so for one of the members that were not dropped.
bool members_wait_for_window(const StateView& state, const Job& job);

/// REQUIRES that it is in the roster.
RosterEntry& roster_entry(Job& job, const PublicKey& miner);

/// Ends a member's part in the job, which opens its place. Does nothing to a member that was dropped before.
void drop(Work& work, const Job& job, RosterEntry& entry, Reason reason, std::uint32_t round);

}  // namespace assay::contracts
