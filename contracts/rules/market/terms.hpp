// SPDX-License-Identifier: Apache-2.0
// Gives the market what a job asks of it, and whether the job can pay for what it bids. Internal to the
// rules.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// How many lots a job may have.
struct LotRange {
    std::uint32_t gang = 1;  ///< with fewer it does not work
    std::uint32_t most = 0;
};
/// Nothing for a job that holds an auction of its own. The one place that reads it from a specification.
std::optional<LotRange> market_terms_of(const JobTerms& job);
/// Whether lots of this class do for the job.
bool takes_class(const JobTerms& job, const LotClass& kind);

/// Whether lots of the class do for the job, at a price that is not above its cap.
Checked check_wish(const JobTerms& job, const LotClass& kind, Amount price);
/// The same, of a job that goes on.
Checked check_fits(const StateView& state, const Hash256& job, const LotClass& kind, Amount price);
/// The same, and whether its escrow holds the dearest course of a round at that price.
Checked check_cover(const StateView& state, const Hash256& job, const LotClass& kind, Amount price);
/// Whether the job can do without the deposit of a sealed bid: a round that runs, and the one behind it, keep
/// what they can cost at the job's cap. kEscrowTooSmall. REQUIRES a job that is on the ledger.
Checked check_spare(const StateView& state, const Hash256& job, Amount deposit);

}  // namespace assay::contracts
