// SPDX-License-Identifier: Apache-2.0
// From opened audits to verdicts: two equal recomputations decide a unit.
#include <algorithm>
#include <map>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

std::vector<SlotAudit> audits_of(const StateView& state, const RunningRound& running, const SlotRound& slot) {
    std::vector<SlotAudit> audits;
    for (std::size_t i = 0; i < slot.verifiers.size(); ++i) {
        const Stage stage = i < 2 ? Stage::kPair : Stage::kThird;
        SlotAudit audit;
        audit.verifier = slot.verifiers[i];
        const auto posting = read_audit(state, running.job.id, running.round.number, stage, audit.verifier);
        audit.sealed = posting && posting->sealed;
        if (posting && posting->opened) {
            audit.opened = true;
            for (const UnitClaim& claim : posting->claims) {
                if (claim.slot == slot.slot) audit.claims.push_back(claim);
            }
        }
        audits.push_back(std::move(audit));
    }
    return audits;
}

std::vector<UnitFinding> find_units(const RunningRound& running, const SlotRound& slot,
                                    const std::vector<SlotAudit>& audits) {
    const auto reveal = read_reveal(running.work.state, running.job.id, running.round.number, slot.slot);
    ASSAY_CHECK(reveal.has_value());
    std::vector<UnitFinding> findings;
    for (const std::uint32_t unit : slot.drawn_units) {
        UnitFinding finding;
        finding.unit = unit;
        finding.claimed = program::unit_root(reveal->trace, running.job.spec, unit);
        finding.all_unavailable = !audits.empty();
        std::map<Hash256, int> votes;
        for (const SlotAudit& audit : audits) {
            const auto claim = std::find_if(audit.claims.begin(), audit.claims.end(),
                                            [&](const UnitClaim& c) { return c.unit == unit; });
            const bool unavailable = claim != audit.claims.end() && claim->unavailable;
            if (!unavailable) finding.all_unavailable = false;
            if (claim != audit.claims.end() && !claim->unavailable) ++votes[claim->root];
        }
        // Of at most three votes only one root can have two.
        for (const auto& [root, count] : votes) {
            if (count < 2) continue;
            finding.decided = true;
            finding.root = root;
        }
        findings.push_back(finding);
    }
    return findings;
}

bool any_unserved(const std::vector<SlotAudit>& audits) {
    return std::any_of(audits.begin(), audits.end(), [](const SlotAudit& audit) {
        return std::any_of(audit.claims.begin(), audit.claims.end(),
                           [](const UnitClaim& claim) { return claim.unavailable; });
    });
}

namespace {

void draw_divergences(RunningRound& running) {
    const program::RoundPlan plan(running.job.spec);
    for (SlotRound& slot : running.slots) {
        if (!slot.revealed || !slot.diverged) continue;
        const auto reveal = read_reveal(running.work.state, running.job.id, running.round.number, slot.slot);
        ASSAY_CHECK(reveal.has_value() && reveal->trace.divergence.has_value());
        draw_divergence(slot.drawn_units, plan, plan.unit_of(reveal->trace.divergence->step));
    }
}

}  // namespace

void call_audits(RunningRound& running, Stage stage) {
    if (stage == Stage::kPair) draw_divergences(running);
    save(running);
    for (const EnlistedVerifier& verifier : running.job.verifiers) {
        if (assigned_units(running.work.state, running.job.id, running.round.number, stage, verifier.node)
                .empty()) {
            continue;
        }
        AuditPosting posting;
        posting.verifier = verifier.node;
        posting.stage = stage;
        store(running.work.state, audit_key(running.job.id, running.round.number, stage, verifier.node),
              posting);
    }
}

bool draw_thirds(RunningRound& running) {
    bool drawn = false;
    for (SlotRound& slot : running.slots) {
        if (!slot.revealed) continue;
        const auto findings = find_units(running, slot, audits_of(running.work.state, running, slot));
        const auto wrong = [](const UnitFinding& f) { return f.decided && f.root != f.claimed; };
        const auto open = [](const UnitFinding& f) { return !f.decided; };
        // One unit shown wrong settles the slot, whatever the others are.
        if (std::any_of(findings.begin(), findings.end(), wrong)) continue;
        if (std::any_of(findings.begin(), findings.end(), open)) drawn = draw_third(running, slot) || drawn;
    }
    return drawn;
}

namespace {

void judge(RunningRound& running, SlotRound& slot) {
    const auto findings = find_units(running, slot, audits_of(running.work.state, running, slot));
    bool open = false;
    bool served = false;
    for (const UnitFinding& finding : findings) {
        if (finding.decided && finding.root != finding.claimed) {
            slot.verdict = Reason::kMismatch;
            slot.fault_unit = finding.unit;
            slot.fault_claimed = finding.claimed;
            slot.fault_found = finding.root;
            return;
        }
        if (!finding.decided) {
            open = true;
            served = served || !finding.all_unavailable;
        }
    }
    if (open) {
        slot.verdict = served ? Reason::kUnresolved : Reason::kUnavailable;
    } else {
        slot.verdict = slot.diverged ? Reason::kPaidDiverged : Reason::kPaid;
    }
}

}  // namespace

void conclude(RunningRound& running) {
    for (SlotRound& slot : running.slots) {
        if (!slot.assigned) {
            slot.verdict = Reason::kNotAssigned;
        } else if (!slot.committed) {
            slot.verdict = Reason::kNoCommit;
        } else if (!slot.revealed) {
            slot.verdict = Reason::kSilentAfterDraw;
        } else {
            judge(running, slot);
        }
        running.work.tell({.kind = EventKind::kVerdict,
                           .job = running.job.id,
                           .round = running.round.number,
                           .slot = slot.slot,
                           .node = slot.miner,
                           .reason = slot.verdict});
    }
}

std::optional<MergeClaim> agreed_merge(const Round& round) {
    std::map<MergeClaim, int> votes;
    for (const MergePosting& posting : round.merges) {
        if (posting.opened && ++votes[posting.claim] == 2) return posting.claim;
    }
    return std::nullopt;
}

}  // namespace assay::contracts
