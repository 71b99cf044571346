// SPDX-License-Identifier: Apache-2.0
// Which of a job's lots can work, for the rules and the buyer's node: a lot wins by its price alone, and its
// stake can be taken away after that.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// Whether the machine of a lease can hold a slot, as the dealing asks it (round/deal.cpp), counting the
/// bonds that it has in this job. It cannot if its key was revoked, if it was dropped since the lease began,
/// if too few verifiers of other owners could judge its work, or if it does not have the bond of a slot:
/// free, or in a claim of this job in its window. `judges`: owners_of_judges(); while they are too few for
/// anybody, nobody is kept from a slot by whose they are.
bool can_work(const StateView& state, const Params& params, const Job& job, const Lease& lease,
              const std::vector<PublicKey>& judges);

/// How many lots of an epoch can. Only these count against what the job may use (MarketTerms::most).
std::uint32_t count_working_lots(const StateView& state, const Job& job, std::uint64_t epoch);

/// The most lots of an epoch that a job may lease at once, those that cannot work among them.
constexpr std::uint32_t most_leased(std::uint32_t most_used) { return 2 * most_used; }

}  // namespace assay::contracts
