// SPDX-License-Identifier: Apache-2.0
// What a job wants from the market, and whether the job can pay for what it bids. Internal to the rules.
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
/// Returns nothing for a job that holds an auction of its own. Only this function reads the range from a
/// specification.
std::optional<LotRange> market_terms_of(const JobTerms& job);
/// Whether lots of this class meet the job's needs.
bool takes_class(const JobTerms& job, const LotClass& kind);

/// Checks that lots of the class meet the job's needs, and that the price is not above its cap.
Checked check_wish(const JobTerms& job, const LotClass& kind, Amount price);
/// Checks the same, and that the job is not over.
Checked check_fits(const StateView& state, const Hash256& job, const LotClass& kind, Amount price);
/// Checks the same, and that its escrow covers the dearest course of a round at that price.
Checked check_cover(const StateView& state, const Hash256& job, const LotClass& kind, Amount price);
/// Checks that verifiers of enough owners are enlisted for the job (Params::panel_owners_least): whatever it
/// leases before stands idle. Fails with kTooFewJudges. REQUIRES a job that is on the ledger.
Checked check_judged(const StateView& state, const Hash256& job);
/// Checks that the job can spare the deposit of a sealed bid: in its rounds, the escrow must still cover the
/// running round and the next at the job's cap; while it waits and has lots, its next round at the dearest of
/// their prices. Fails with kEscrowTooSmall. REQUIRES a job that is on the
/// ledger.
Checked check_spare(const StateView& state, const Hash256& job, Amount deposit);

}  // namespace assay::contracts
