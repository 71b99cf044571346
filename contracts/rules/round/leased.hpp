// SPDX-License-Identifier: Apache-2.0
// The rules that differ for a job that leases its machines (MarketTerms): who is in its roster, and when it
// waits. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Updates the roster from the leases that hold now. Adds each new node that can hold a slot, while the
/// roster has fewer than kMaxAsks members. Takes a dropped member back, with one absence, if its lease begins
/// after it was dropped: a later lease shows that it is wanted again. Removes nobody. Changes `job`, which
/// the caller stores.
void follow_leases(Work& work, Job& job, const std::vector<Lease>& leases);

/// Makes the job wait for its gang and keep what it has. It checks again by itself when a window ends for
/// which it waits (of enlistment, or of bonds of leased machines), and at the end of the wait, which ends the
/// job (kNoMiners, or kTooFewVerifiers). Before its first round that is last_of_first_wait. Afterwards it is
/// the deadline that verifiers knew when they enlisted. Once the buyer has moved that (JobExtend), the wait
/// may go on for a claim window since the job worked last: what verifiers have locked is not theirs before
/// the job ends. No wait goes beyond the current deadline. Changes `job`, which the caller stores. REQUIRES
/// that its current deadline has not passed.
void wait_for_gang(Work& work, Job& job);

/// Whether a waiting job may go on. It needs leases for a gang now; before its first round its enlistment
/// must be over, with verifiers of enough owners.
bool may_go_on(const Work& work, const Job& job);

/// Checks again: deals if the job may go on, and ends the job at its deadline or when its data were found at
/// fault. Otherwise the job waits on, and the result is false. Changes `job`, which the caller stores.
bool end_wait(Work& work, Job& job);

/// Deals a round if the job waits and may go on; does nothing for any other job or when there is no such job.
/// Called after whatever gives a job leases: an epoch that begins, or a lease that is taken at once. Writes
/// the job.
void begin_if_leased(Work& work, const Hash256& job);

}  // namespace assay::contracts
