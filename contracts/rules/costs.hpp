// SPDX-License-Identifier: Apache-2.0
// What a job's pieces cost. All amounts follow from the price per work unit; payouts round down, what is
// reserved or locked rounds up. Nothing: the amount is above the largest one.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/job_records.hpp"
#include "contracts/rules/params.hpp"
#include "contracts/rules/reasons.hpp"

namespace assay::contracts {

/// Pay of one accepted slot: price · work units of a slot's round.
std::optional<Amount> slot_pay(Amount price, std::uint64_t slot_work);

/// Work units of recomputing one audit unit: a segment's share of the slot's work, rounded up; one for
/// `finalise`.
std::uint64_t unit_work(const program::JobSpec& spec, std::uint64_t slot_work, std::uint32_t unit);

/// Fee of one verifier for recomputing `work` work units.
std::optional<Amount> audit_fee(const Params& params, Amount price, std::uint64_t work);

/// Fee of one verifier for recomputing the merge of a round.
std::optional<Amount> merge_fee(const Params& params, Amount price, std::uint64_t slot_work);

/// The most that one round can take from escrow: every slot paid, every unit of every slot audited by three
/// verifiers, the merge by three.
std::optional<Amount> round_cost(const Params& params, const program::JobSpec& spec, Amount price,
                                 std::uint64_t slot_work);

/// L of protocol.md §7 for a window of one unit: (Δ + gain bound) / q, with the slot's whole pay as the
/// saving Δ. A newcomer is audited at rate 1, so that q = 1.
enum class Standing : std::uint8_t { kNewcomer, kProven };
std::optional<Amount> slot_bond(const program::JobSpec& spec, Amount price, std::uint64_t slot_work,
                                Standing standing);

/// What a job comes to at its price cap: the most that its round, its slots and its miners' bonds can be.
struct JobTerms {
    std::uint64_t slot_work = 0;  ///< work units of one slot's round
    Amount slot_pay;
    Amount round_cost;
    Amount bond_newcomer;
    Amount bond_proven;
};

/// REQUIRES a spec that check_spec accepts. kAmountOverflow when one of the amounts is above the largest.
/// Builds the job's program to count its work.
Result<JobTerms, Reason> job_terms(const Params& params, const program::JobSpec& spec);

/// kBudgetTooSmall when the budget does not cover the dearest course of one round.
Result<void, Reason> check_budget(const JobTerms& terms, const program::MarketConfig& market);

}  // namespace assay::contracts
