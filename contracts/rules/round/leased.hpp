// SPDX-License-Identifier: Apache-2.0
// Gives the rules what is different in a job that leases its machines (MarketTerms): who is in its roster,
// and when it waits. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Brings the roster in line with the leases that hold now. A node that is new comes to it, as long as it has
/// less than kMaxAsks members. A member that was dropped comes back, with one absence, by a lease that begins
/// after it was dropped: a later lease is the market's word that it is wanted. Nobody leaves it. Changes
/// `job`, which the caller stores.
void follow_leases(Work& work, Job& job, const std::vector<Lease>& leases);

/// The job waits for its gang, with all that it has. It looks again by itself when a window ends that it
/// waits for, that of enlistment or of bonds of leased machines, and at its deadline. Changes `job`, which
/// the caller stores. REQUIRES that its deadline has not passed.
void wait_for_gang(Work& work, Job& job);

/// Whether a job that waits may go on: it has a gang's leases now; before its first round its enlistment is
/// over, and enough owners of verifiers are there.
bool may_go_on(const Work& work, const Job& job);

/// Looks again: deals, where the job may go on; ends the job at its deadline, or when its data were found at
/// fault; and lets it wait on otherwise, which is false. Changes `job`, which the caller stores.
bool end_wait(Work& work, Job& job);

/// Deals a round of a job that waits and may go on; does nothing to any other, nor to one that is not there.
/// For whatever gives a job leases: an epoch that begins, a lease that is taken at once. Writes the job.
void begin_if_leased(Work& work, const Hash256& job);

}  // namespace assay::contracts
