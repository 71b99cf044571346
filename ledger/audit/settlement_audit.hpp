// SPDX-License-Identifier: Apache-2.0
// Gives the audit of payments its check of a settled round as a whole: everyone who was dealt or drawn
// something has exactly one line, and the merge is the one that stands. What each line
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

/// One line per slot, per verifier drawn for a revealed slot, per judge where something
/// could be merged, and per withheld link: nobody
/// is forgotten or counted twice. A drawn verifier that posted nothing has a line as well.
std::vector<SlotFailure> audit_completeness(const contracts::Round& round, const SlotsEvidence& slots,
                                            const std::vector<contracts::SettlementLine>& lines);

/// The merge that stands by the records, and who is paid for it.
struct MergeOpinion {
    std::size_t most = 0;         ///< slots of the opened claims that name the most
    std::size_t most_finite = 0;  ///< the same, of those that name a state
    const contracts::MergePosting* paid =
        nullptr;  ///< first that opened the standing claim; null: none stands

    /// As many slots as it must name to count.
    [[nodiscard]] std::size_t most_against(const contracts::MergePosting& posting) const;
    /// What follows for one posting.
    [[nodiscard]] contracts::Reason reason_of(const contracts::MergePosting& posting) const;
};
MergeOpinion judge_merges(const contracts::Round& round);

/// Whether exactly the judges of the round could merge, where there was something to merge.
std::vector<SlotFailure> audit_mergers(const contracts::Round& round, const SlotsEvidence& slots);

/// Claims, result, merged slots, and what a round without a merge, or a diverged one, means for the job.
/// `unmerged_before`: the last round before it that somebody committed in had no merge.
std::vector<SlotFailure> audit_merge(const contracts::Job& job, const contracts::Round& round,
                                     const SlotsEvidence& slots, bool unmerged_before);
bool is_unmerged_before(const contracts::StateView& state, const contracts::Job& job, std::uint32_t round);

/// What the round's audits cost more than those at the job's rates: lost link bonds pay it.
std::uint64_t cost_of_rate_one(const contracts::Params& params, const contracts::Job& job,
                               const contracts::Round& round, contracts::Amount price,
                               const SlotsEvidence& slots,
                               const std::vector<contracts::SettlementLine>& lines);

}  // namespace assay::ledger
