// SPDX-License-Identifier: Apache-2.0
// Gives the audit of payments its check of a settled round as a whole: everyone who was dealt or drawn
// something has exactly one line, and the merge is the one that two verifiers opened alike. What each line
// pays is payout_audit's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ledger/audit/verdict_audit.hpp"

namespace assay::ledger {

struct SlotFailure {
    std::optional<std::uint32_t> slot;  ///< nothing: it concerns the round
    std::string what;                   ///< begins with the name of the rule
};

using SlotsEvidence = std::map<std::uint32_t, SlotEvidence>;  ///< by slot number

/// One line per slot, per verifier drawn for a revealed slot, per merge posting and per withheld link: nobody
/// is forgotten or counted twice. A drawn verifier that posted nothing has a line as well.
std::vector<SlotFailure> audit_completeness(const contracts::Round& round, const SlotsEvidence& slots,
                                            const std::vector<contracts::SettlementLine>& lines);

/// How many drawn verifiers opened the same merge as this one, itself included; 0 when it opened none.
std::size_t agreeing(const contracts::Round& round, const contracts::MergePosting& posting);

/// Result, merged slots, and what an open or diverged merge means for the job.
std::vector<SlotFailure> audit_merge(const contracts::Job& job, const contracts::Round& round,
                                     const SlotsEvidence& slots);

/// What the round's audits cost more than those at the job's rates: lost link bonds pay it.
std::uint64_t cost_of_rate_one(const contracts::Params& params, const contracts::Job& job,
                               const contracts::Round& round, const SlotsEvidence& slots,
                               const std::vector<contracts::SettlementLine>& lines);

}  // namespace assay::ledger
