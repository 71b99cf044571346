// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/settlement_audit.hpp"

#include <algorithm>

#include "contracts/program/mean_loss.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/round/draws.hpp"
#include "ledger/audit/payout_amounts.hpp"

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
        for (const DrawnAudit& audit : evidence.audits)
            expect(number, "the audit by " + audit.verifier.brief(), audit_lines[{number, audit.verifier}],
                   1);
    }
    for (const auto& posting : round.merges)
        expect({}, "the merge by " + posting.verifier.brief(), merge_lines[posting.verifier], 1);
    for (const auto& link : round.links)
        expect({}, "the link of " + link.node.brief(), link_lines[link.node], link.withheld ? 1 : 0);
    if (lines.size() != round.lines)
        expect({}, "the round", static_cast<int>(lines.size()), static_cast<int>(round.lines));
    return wrong;
}

std::uint64_t cost_of_rate_one(const contracts::Params& params, const contracts::Job& job,
                               const contracts::Round& round, const SlotsEvidence& slots,
                               const std::vector<SettlementLine>& lines) {
    const program::RoundPlan plan(job.spec);
    std::uint64_t cost = 0;
    for (const SettlementLine& line : lines) {
        const auto found = slots.find(line.slot);
        if (line.kind != LineKind::kAudit || found == slots.end()) continue;
        const auto rates = contracts::unit_rates(job.spec.security, found->second.slot.newcomer);
        std::uint64_t drawn = 0;
        for (const std::uint32_t unit : contracts::draw_units(round.beacon, line.slot, plan, rates))
            drawn += work_of(job, unit);
        if (line.work_units <= drawn) continue;
        const std::uint64_t whole = share(job.auction.clearing_price.units(), line.work_units - drawn, 1);
        cost += std::min(share(whole, params.audit_fee_ppm, kMillion), line.from_escrow.units());
    }
    return cost;
}

std::size_t agreeing(const contracts::Round& round, const contracts::MergePosting& posting) {
    if (!posting.opened) return 0;
    return static_cast<std::size_t>(
        std::count_if(round.merges.begin(), round.merges.end(),
                      [&](const auto& one) { return one.opened && one.claim == posting.claim; }));
}

namespace {
// Losses of the revealed steps of drawn units that two verifiers recomputed alike, as the miner's trace says
// them.
std::vector<std::uint32_t> audited_losses(const contracts::Job& job, const SlotEvidence& evidence) {
    std::vector<std::uint32_t> losses;
    if (!evidence.reveal) return losses;
    const program::RoundPlan plan(job.spec);
    const auto& steps = evidence.reveal->trace.fingerprints;
    for (std::size_t step = 0; step < steps.size(); ++step) {
        const std::uint32_t unit = plan.unit_of(static_cast<std::uint32_t>(step));
        if (evidence.is_drawn(unit) && evidence.decided(unit)) losses.push_back(steps[step].loss);
    }
    return losses;
}
}  // namespace

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
        const Reason verdict = evidence.slot.verdict;
        const bool accepted = verdict == Reason::kPaid || verdict == Reason::kPaidUndecided;
        if (merged && accepted) right.push_back(number);
    }
    if (round.merged_slots != right) say("the merged slots are not those accepted");
    std::vector<std::uint32_t> losses;
    for (const std::uint32_t slot : right) {
        const auto drawn = audited_losses(job, slots.at(slot));
        losses.insert(losses.end(), drawn.begin(), drawn.end());
    }
    const std::uint32_t loss = losses.empty() ? 0 : program::mean_loss(losses);
    if (round.train_loss != loss || round.train_steps != losses.size())
        say("its training loss is not the mean of the audited steps");
    if (!merged) {
        const Reason end = decided ? Reason::kMergeDiverged : Reason::kMergeUnresolved;
        if (job.end_reason != end) say("the job did not end as a round without a merge ends it");
    }
    return wrong;
}

}  // namespace assay::ledger
