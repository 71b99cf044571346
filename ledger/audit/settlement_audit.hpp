// SPDX-License-Identifier: Apache-2.0
// Checks a settled round as a whole, for the audit of payments: everyone who was dealt or drawn something has
// exactly one line, and the merge is the one that stands. payout_audit checks what each line pays.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ledger/audit/verdict_audit.hpp"

namespace assay::ledger {

struct SlotFailure {
    std::optional<std::uint32_t> slot;  ///< nothing when it concerns the round
    std::string what;                   ///< begins with the name of the rule
};

using SlotsEvidence = std::map<std::uint32_t, SlotEvidence>;  ///< by slot number

/// Checks that there is one line for each slot, for each verifier drawn for a revealed slot, for each judge
/// if something could be merged, and for each withheld link, so that nobody is forgotten or counted twice. A
/// drawn verifier that posted nothing has a line as well.
std::vector<SlotFailure> audit_completeness(const contracts::Round& round, const SlotsEvidence& slots,
                                            const std::vector<contracts::SettlementLine>& lines);

/// The merge that stands according to the records, and who is paid for it.
struct MergeOpinion {
    std::size_t most = 0;         ///< the most slots that an opened claim names
    std::size_t most_finite = 0;  ///< the same, of those that name a state
    const contracts::MergePosting* paid =
        nullptr;  ///< the first that opened the standing claim; null when none stands

    /// The number of slots that it must name to count.
    [[nodiscard]] std::size_t most_against(const contracts::MergePosting& posting) const;
    /// What follows for one posting.
    [[nodiscard]] contracts::Reason reason_of(const contracts::MergePosting& posting) const;
};
MergeOpinion judge_merges(const contracts::Round& round);

/// Checks that exactly the judges of the round could merge, if there was something to merge.
std::vector<SlotFailure> audit_mergers(const contracts::Round& round, const SlotsEvidence& slots);

/// Checks claims, result, merged slots, and what a round without a merge, or with a diverged one, means for
/// the job. `unmerged_before`: the last earlier round with a commit had no merge.
std::vector<SlotFailure> audit_merge(const contracts::Job& job, const contracts::Round& round,
                                     const SlotsEvidence& slots, bool unmerged_before);
bool is_unmerged_before(const contracts::StateView& state, const contracts::Job& job, std::uint32_t round);

/// The extra cost of the round's audits over those at the job's rates, which lost link bonds pay.
std::uint64_t cost_of_rate_one(const contracts::Params& params, const contracts::Job& job,
                               const contracts::Round& round, contracts::Amount price,
                               const SlotsEvidence& slots,
                               const std::vector<contracts::SettlementLine>& lines);

}  // namespace assay::ledger
