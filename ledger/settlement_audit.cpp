// SPDX-License-Identifier: Apache-2.0
#include "ledger/settlement_audit.hpp"

#include <algorithm>

namespace assay::ledger {

using contracts::LineKind;
using contracts::PublicKey;
using contracts::Reason;
using contracts::SettlementLine;

std::vector<SlotFailure> audit_completeness(const contracts::Round& round, const SlotsEvidence& slots,
                                            const std::vector<SettlementLine>& lines) {
    std::vector<SlotFailure> wrong;
    const auto expect = [&](std::optional<std::uint32_t> slot, const std::string& who, int found,
                            int expected) {
        if (found == expected) return;
        wrong.push_back({slot, "settlement: " + who + " has " + std::to_string(found) + " lines instead of " +
                                   std::to_string(expected)});
    };
    std::map<std::uint32_t, int> slot_lines;
    std::map<std::pair<std::uint32_t, PublicKey>, int> audit_lines;
    std::map<PublicKey, int> merge_lines;
    std::map<PublicKey, int> link_lines;
    for (const SettlementLine& line : lines) {
        switch (line.kind) {
            case LineKind::kSlot: ++slot_lines[line.slot]; break;
            case LineKind::kAudit: ++audit_lines[{line.slot, line.node}]; break;
            case LineKind::kMerge: ++merge_lines[line.node]; break;
            case LineKind::kLink: ++link_lines[line.node]; break;
        }
    }
    for (const auto& [number, evidence] : slots) {
        expect(number, "the slot", slot_lines[number], 1);
        if (!evidence.slot.revealed) continue;
        for (const DrawnAudit& audit : evidence.audits)
            expect(number, "the audit by " + audit.verifier.brief(), audit_lines[{number, audit.verifier}],
                   1);
    }
    for (const auto& posting : round.merges)
        expect({}, "the merge by " + posting.verifier.brief(), merge_lines[posting.verifier], 1);
    for (const auto& link : round.links)
        expect({}, "the link of " + link.node.brief(), link_lines[link.node], link.opened ? 0 : 1);
    if (lines.size() != round.lines)
        expect({}, "the round", static_cast<int>(lines.size()), static_cast<int>(round.lines));
    return wrong;
}

std::size_t agreeing(const contracts::Round& round, const contracts::MergePosting& posting) {
    if (!posting.opened) return 0;
    return static_cast<std::size_t>(
        std::count_if(round.merges.begin(), round.merges.end(),
                      [&](const auto& one) { return one.opened && one.claim == posting.claim; }));
}

std::vector<SlotFailure> audit_merge(const contracts::Job& job, const contracts::Round& round,
                                     const SlotsEvidence& slots) {
    std::vector<SlotFailure> wrong;
    const auto say = [&](const char* what) { wrong.push_back({{}, std::string("merge: ") + what}); };
    const auto agreed = std::find_if(round.merges.begin(), round.merges.end(),
                                     [&](const auto& posting) { return agreeing(round, posting) >= 2; });
    const bool decided = agreed != round.merges.end();
    // Two that found the merged model not finite agree, but on no model.
    const bool merged = decided && !agreed->claim.diverged();
    if (round.merged != merged) say("whether the round was merged is not what the opened merges show");
    if (decided && round.result != agreed->claim) say("its result is not the one that two verifiers opened");
    std::vector<std::uint32_t> right;
    for (const auto& [number, evidence] : slots) {
        if (merged && evidence.slot.verdict == Reason::kPaid) right.push_back(number);
    }
    if (round.merged_slots != right) say("the merged slots are not those found right");
    if (!merged) {
        const Reason end = decided ? Reason::kMergeDiverged : Reason::kMergeUnresolved;
        if (job.end_reason != end) say("the job did not end as a round without a merge ends it");
    }
    return wrong;
}

}  // namespace assay::ledger
