// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/settlement_audit.hpp"

#include <algorithm>
#include <bit>

#include "contracts/base/wide.hpp"
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
                               const contracts::Round& round, contracts::Amount price,
                               const SlotsEvidence& slots, const std::vector<SettlementLine>& lines) {
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
        const std::uint64_t whole = share(price.units(), line.work_units - drawn, 1);
        cost += std::min(share(whole, params.audit_fee_ppm, kMillion), line.from_escrow.units());
    }
    return cost;
}

namespace {

std::size_t slots_of(const contracts::MergePosting& posting) {
    std::size_t count = 0;
    for (const std::uint8_t byte : posting.claim.slots)
        count += static_cast<std::size_t>(std::popcount(byte));
    return count;
}

bool is_accepted(const SlotEvidence& evidence) {
    const Reason verdict = evidence.slot.verdict;
    return verdict == Reason::kPaid || verdict == Reason::kPaidUndecided;
}

/// Why an opened claim could not have been opened; empty: it could.
std::string fault_of(const contracts::MergeClaim& claim, bool clips, const SlotsEvidence& slots) {
    std::size_t named = 0;
    for (const auto& [number, evidence] : slots) {
        const std::size_t byte = number / 8;
        if (byte >= claim.slots.size()) return "its bitmap is too short";
        if (((claim.slots[byte] >> (number % 8)) & 1U) == 0) continue;
        ++named;
        if (!is_accepted(evidence))
            return "it names slot " + std::to_string(number) + ", which is not accepted";
    }
    const std::size_t expected = clips && !claim.diverged() ? named : 0;
    if (claim.clips.size() != expected) return "it has another number of clips than slots";
    if (!claim.is_well_formed()) return "it is not well formed";
    return named == 0 ? "it names no slot" : "";
}

}  // namespace

MergeOpinion judge_merges(const contracts::Round& round) {
    MergeOpinion opinion;
    for (const auto& posting : round.merges) {
        if (!posting.opened) continue;
        opinion.most = std::max(opinion.most, slots_of(posting));
        // What is not finite counts against nothing that is.
        if (!posting.claim.diverged()) opinion.most_finite = std::max(opinion.most_finite, slots_of(posting));
    }
    for (const auto& posting : round.merges) {
        if (!posting.opened || slots_of(posting) != opinion.most_against(posting)) continue;
        base::Uint128 all = 0;
        base::Uint128 alike = 0;
        const contracts::MergePosting* first = &posting;
        for (const contracts::Judge& judge : round.judges) {
            all += judge.weight.units();
            for (const auto& other : round.merges) {
                if (other.verifier != judge.node || !other.opened || other.claim != posting.claim) continue;
                alike += judge.weight.units();
                if (other.order < first->order) first = &other;
            }
        }
        if (alike > all - alike) opinion.paid = first;
    }
    return opinion;
}

std::size_t MergeOpinion::most_against(const contracts::MergePosting& posting) const {
    return posting.claim.diverged() ? most : most_finite;
}

Reason MergeOpinion::reason_of(const contracts::MergePosting& posting) const {
    if (!posting.opened) return posting.sealed ? Reason::kMergeUnopened : Reason::kMergeSilent;
    if (slots_of(posting) < most_against(posting)) return Reason::kMergeFewerSlots;
    if (paid == nullptr || posting.claim.slots != paid->claim.slots) return Reason::kMergeUndecided;
    if (posting.claim == paid->claim)
        return posting.verifier == paid->verifier ? Reason::kPaidMerge : Reason::kMergeAttested;
    // A game is about clips and states alone.
    const bool same =
        posting.claim.base_root == paid->claim.base_root && posting.claim.clips == paid->claim.clips;
    const bool finite = !posting.claim.diverged() && !paid->claim.diverged();
    return finite && !same ? Reason::kMergeAccuses : Reason::kMergeUndecided;
}

std::vector<SlotFailure> audit_mergers(const contracts::Round& round, const SlotsEvidence& slots) {
    const bool any =
        std::any_of(slots.begin(), slots.end(), [](const auto& slot) { return is_accepted(slot.second); });
    const std::size_t expected = any ? round.judges.size() : 0;
    bool right = round.merges.size() == expected;
    for (std::size_t place = 0; right && place < expected; ++place)
        right = round.merges[place].verifier == round.judges[place].node;
    if (right) return {};
    return {{{}, "merge: those who may merge are not the judges of the round"}};
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
        if (evidence.is_drawn(unit) && evidence.is_heard(unit)) losses.push_back(steps[step].loss);
    }
    return losses;
}
}  // namespace

bool is_unmerged_before(const contracts::StateView& state, const contracts::Job& job, std::uint32_t round) {
    while (round-- > 0) {
        const auto before = contracts::read_round_progress(state, job.id, round);
        if (!before || before->merged) return false;
        for (const contracts::SlotRound& slot : contracts::list_slots(state, job.id, round)) {
            if (slot.committed) return true;
        }
    }
    return false;
}

std::vector<SlotFailure> audit_merge(const contracts::Job& job, const contracts::Round& round,
                                     const SlotsEvidence& slots, bool unmerged_before) {
    std::vector<SlotFailure> wrong;
    const auto say = [&](const char* what) { wrong.push_back({{}, std::string("merge: ") + what}); };
    const MergeOpinion opinion = judge_merges(round);
    const bool decided = opinion.paid != nullptr;
    // One that stands and found the merged model not finite gives no model.
    const bool merged = decided && !opinion.paid->claim.diverged();
    if (round.merged != merged) say("whether the round was merged is not what the opened merges show");
    if (decided && round.result != opinion.paid->claim) say("its result is not the claim that stands");
    for (const auto& posting : round.merges) {
        if (!posting.opened) continue;
        const std::string fault = fault_of(posting.claim, job.spec.has_norm_bound(), slots);
        if (!fault.empty())
            wrong.push_back({{}, "merge: the claim by " + posting.verifier.brief() + ": " + fault});
    }
    std::vector<std::uint32_t> right;
    for (const auto& [number, evidence] : slots) {
        const std::size_t byte = number / 8;
        const bool named = merged && byte < opinion.paid->claim.slots.size() &&
                           ((opinion.paid->claim.slots[byte] >> (number % 8)) & 1U) != 0;
        if (named) right.push_back(number);
    }
    if (round.merged_slots != right) say("the merged slots are not those that the standing claim names");
    std::vector<std::uint32_t> losses;
    for (const std::uint32_t slot : right) {
        const auto drawn = audited_losses(job, slots.at(slot));
        losses.insert(losses.end(), drawn.begin(), drawn.end());
    }
    const std::uint32_t loss = losses.empty() ? 0 : program::mean_loss(losses);
    if (round.train_loss != loss || round.train_steps != losses.size())
        say("its training loss is not the mean of the audited steps");
    const bool ends_here = contracts::is_over(job.phase) && job.round == round.number + 1;
    if (decided && !merged && job.end_reason != Reason::kMergeDiverged)
        say("the job did not end as a merge that is not finite ends it");
    if (ends_here && job.end_reason == Reason::kMergeDiverged && (merged || !decided))
        say("the job ended as if the merge were not finite");
    const bool second =
        !decided && unmerged_before &&
        std::any_of(slots.begin(), slots.end(), [](const auto& slot) { return slot.second.slot.committed; });
    if (ends_here && job.end_reason == Reason::kMergeUnresolved && !second)
        say("the job ended as if no merge had stood in two rounds in a row");
    if (second && job.end_reason != Reason::kMergeUnresolved)
        say("the job did not end when no merge had stood in two rounds in a row");
    return wrong;
}

}  // namespace assay::ledger
