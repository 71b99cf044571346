// SPDX-License-Identifier: Apache-2.0
// Gives the rules the life of a job outside its rounds: the phases of its bidding, and its end. Internal
// to the rules.
#pragma once

#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// From here on the job is due at the height after `last`, and at no other.
void schedule(State& state, const Hash256& id, JobProgress& job, std::uint64_t last);
/// Puts a new job on the list of those that have not ended.
void list_as_active(State& state, const Hash256& id);

/// Ends the phase of the bidding that the job is in: asks are opened next, or the auction is held. True when
/// it has winners: the job is then in its rounds, and the caller deals the first. Changes `job`, which the
/// caller stores.
bool close_bidding_phase(Work& work, Job& job);

/// The last height at which nobody who may enlist comes too late, however early a job that leases has its
/// machines: whoever holds a job's lots must not choose its judges by haste.
std::uint64_t last_of_enlistment(const Params& params, const JobTerms& job);

/// What the beacon of the first round goes on from: a hash over the links that all its members registered.
Hash256 beacon_zero(const Job& job);

/// Enters a phase; with a deadline unless it is kRounds, whose rounds have their own. Changes `job`.
void set_phase(Work& work, Job& job, JobPhase phase, std::uint64_t deadline);

/// Unlocks what joiners have locked (RosterEntry::locked). Changes `job`, which the caller stores.
void release_joiners(State& state, Job& job);

/// Decides the end of a job. It ends at once, or, while claims of it are in their windows, waits for the last
/// one: until then escrow, stakes and link bonds stay locked (close_job ends it). Changes `job`, which the
/// caller stores. REQUIRES that its end was not decided before.
void end_job(Work& work, Job& job, Reason reason);

/// Ends a job whose end is decided: refunds what is left of the escrow, releases what is locked, and
/// schedules that its records leave the state. Changes `job`, which the caller stores. REQUIRES that no claim
/// is open.
void close_job(Work& work, Job& job);

}  // namespace assay::contracts
