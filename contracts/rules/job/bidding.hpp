// SPDX-License-Identifier: Apache-2.0
// The life of a job outside its rounds, for the rules: the phases of its bidding, and its end. Internal to
// the rules.
#pragma once

#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Makes the job due at the height after `last`, and at no other.
void schedule(State& state, const Hash256& id, JobProgress& job, std::uint64_t last);
/// Puts a new job on the list of those that have not ended.
void list_as_active(State& state, const Hash256& id);

/// Ends the current phase of the job's bidding: either asks are opened next, or the auction is held. Returns
/// true when the auction has winners: the job is then in its rounds, and the caller deals the first one.
/// Changes `job`, which the caller stores.
bool close_bidding_phase(Work& work, Job& job);

/// The last height at which enlistment is still open, however early a job that leases has its machines. The
/// holders of a job's lots must not be able to choose its judges by hurrying.
std::uint64_t last_of_enlistment(const Params& params, const JobTerms& job);

/// The last height at which a job that leases may wait for its first round, unless its deadline comes before:
/// one claim window after its enlistment, and `market_window` at least: the heights of the epochs whose
/// clearings the state keeps (kept_window), so that a buyer can bid again with what they showed. Waiting
/// costs a job next to nothing, and it takes one of the places of active jobs.
std::uint64_t last_of_first_wait(const Params& params, const JobTerms& job, std::uint64_t market_window);

/// The value from which the first round's beacon continues: a hash over the tips that all its members
/// registered.
Hash256 beacon_zero(const Job& job);

/// Enters a phase. `deadline` is its last height; kRounds has none, since its rounds have their own. Changes
/// `job`.
void set_phase(Work& work, Job& job, JobPhase phase, std::uint64_t deadline);

/// Unlocks what joiners have locked (RosterEntry::locked). Changes `job`, which the caller stores.
void release_joiners(State& state, Job& job);

/// Decides the end of a job. The job ends at once unless some of its claims are in their windows. Then it
/// waits for the last of them, and close_job ends it; until then escrow, stakes and link bonds stay locked,
/// except those of joiners that were dealt no slot.
/// Changes `job`, which the caller stores. REQUIRES that its end was not decided before.
void end_job(Work& work, Job& job, Reason reason);

/// Ends a job whose end is decided: refunds the rest of the escrow, releases what is locked, and schedules
/// the removal of its records from the state. Changes `job`, which the caller stores. REQUIRES that no claim
/// is open.
void close_job(Work& work, Job& job);

}  // namespace assay::contracts
