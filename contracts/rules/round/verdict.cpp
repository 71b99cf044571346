// SPDX-License-Identifier: Apache-2.0
// From opened audits to verdicts: where games decide, a root that differs accuses the claim; else two equal
// recomputations decide a unit.
#include <algorithm>
#include <map>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "contracts/rules/round/words.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

std::vector<SlotAudit> audits_of(const StateView& state, const Hash256& job, std::uint32_t round,
                                 const SlotRound& slot) {
    std::vector<SlotAudit> audits;
    if (slot.drawn_units.empty()) return audits;
    for (std::size_t i = 0; i < slot.verifiers.size(); ++i) {
        SlotAudit audit;
        audit.verifier = slot.verifiers[i];
        const auto posting = read_audit(state, job, round, stage_of(i, slot.panel), audit.verifier);
        audit.sealed = posting && posting->sealed;
        audit.opened = posting && posting->opened;
        if (audit.opened) {
            const auto claim = std::find_if(posting->claims.begin(), posting->claims.end(),
                                            [&](const SlotClaim& c) { return c.slot == slot.slot; });
            ASSAY_CHECK(claim != posting->claims.end());
            audit.replayed = claim->replayed;
            const auto units = claimed_units(slot.drawn_units, claim->replayed);
            for (std::size_t u = 0; u < units.size(); ++u) audit.roots.emplace(units[u], claim->roots[u]);
        }
        audits.push_back(std::move(audit));
    }
    return audits;
}

namespace {

UnitFinding find_unit(std::uint32_t unit, const std::vector<SlotAudit>& audits, std::size_t needed) {
    UnitFinding finding;
    finding.unit = unit;
    std::map<Hash256, std::size_t> equal;
    for (const SlotAudit& audit : audits) {
        const auto root = audit.roots.find(unit);
        if (root == audit.roots.end() || ++equal[root->second] < needed) continue;
        finding.decided = true;
        finding.root = root->second;
    }
    for (const SlotAudit& audit : audits) {
        const auto root = audit.roots.find(unit);
        if (!finding.decided || root == audit.roots.end() || root->second != finding.root) continue;
        (audit.replayed ? finding.by_replay : finding.by_served) = true;
    }
    return finding;
}

}  // namespace

std::vector<UnitFinding> find_units(const SlotRound& slot, const std::vector<SlotAudit>& audits,
                                    std::size_t needed) {
    std::vector<UnitFinding> findings;
    for (const std::uint32_t unit : claimed_units(slot.drawn_units, true)) {
        UnitFinding finding = find_unit(unit, audits, needed);
        finding.drawn = std::binary_search(slot.drawn_units.begin(), slot.drawn_units.end(), unit);
        if (finding.drawn || finding.decided) findings.push_back(finding);
    }
    return findings;
}

void call_audits(RunningRound& running, Stage stage) {
    save(running);
    for (const EnlistedVerifier& verifier : running.job.verifiers) {
        if (assigned_slots(running.work.state, running.job.id, running.round.number, stage, verifier.node)
                .empty()) {
            continue;
        }
        AuditPosting posting;
        posting.verifier = verifier.node;
        posting.stage = stage;
        posting.called_at = running.work.block.height;
        store(running.work.state, audit_key(running.job.id, running.round.number, stage, verifier.node),
              posting);
    }
}

namespace {

/// Whether all who opened replayed, though the miner opened the starts.
bool is_service_disputed(const SlotRound& slot, const std::vector<SlotAudit>& audits) {
    const auto openers = std::count_if(audits.begin(), audits.end(), [](const auto& a) { return a.opened; });
    const auto replays =
        std::count_if(audits.begin(), audits.end(), [](const auto& a) { return a.replayed; });
    return slot.served && replays > 0 && replays == openers;
}

}  // namespace

bool draw_thirds(RunningRound& running) {
    bool drawn = false;
    for (SlotRound& slot : running.slots) {
        const auto audits = audits_of(running.work.state, running.job.id, running.round.number, slot);
        const auto findings = find_units(slot, audits, words_needed(running.params));
        const auto open = [](const UnitFinding& f) { return !f.decided; };
        const bool may_confirm = audits.size() < panel_most() && is_service_disputed(slot, audits);
        if (std::any_of(findings.begin(), findings.end(), open) || may_confirm)
            drawn = draw_third(running, slot) || drawn;
    }
    return drawn;
}

namespace {

/// Whether the unit in which the revealed trace ended is decided.
bool is_divergence_decided(const program::JobSpec& spec, const Reveal& reveal,
                           const std::vector<UnitFinding>& findings) {
    const std::uint32_t unit = program::RoundPlan(spec).unit_of(reveal.trace.divergence->step);
    return std::any_of(findings.begin(), findings.end(),
                       [&](const UnitFinding& f) { return f.unit == unit && f.decided; });
}

/// What two equal roots show of the trace.
std::optional<UnitDifference> find_mismatch(const program::TraceRecord& trace, const program::JobSpec& spec,
                                            const std::vector<UnitFinding>& findings) {
    for (const UnitFinding& finding : findings) {
        const Hash256 claimed = program::unit_root(trace, spec, finding.unit);
        if (finding.decided && finding.root != claimed)
            return UnitDifference{finding.unit, claimed, finding.root};
    }
    return std::nullopt;
}

/// The first accusation, by unit and then by the order of the draw.
std::optional<UnitDifference> find_accusation(const program::TraceRecord& trace, const program::JobSpec& spec,
                                              const std::vector<SlotAudit>& audits) {
    std::optional<UnitDifference> first;
    for (const SlotAudit& audit : audits) {
        const auto difference = first_difference(trace, spec, audit);
        if (difference && (!first || difference->unit < first->unit)) first = difference;
    }
    return first;
}

void note_fault(SlotRound& slot, Reason verdict, const UnitDifference& fault) {
    slot.verdict = verdict;
    slot.fault_unit = fault.unit;
    slot.fault_claimed = fault.claimed;
    slot.fault_found = fault.found;
}

void judge(RunningRound& running, SlotRound& slot) {
    const State& state = running.work.state;
    const program::JobSpec& spec = running.job.spec;
    const auto reveal = read_reveal(state, running.job.id, running.round.number, slot.slot);
    ASSAY_CHECK(reveal.has_value());
    const auto audits = audits_of(state, running.job.id, running.round.number, slot);
    const auto findings = find_units(slot, audits, words_needed(running.params));
    if (has_disputes(running.params)) {
        // Whether its bytes are held or not, its bond answers for it. Without them nobody could have taken
        // its update, so that no accuser kept it out.
        const auto fault = find_accusation(reveal->trace, spec, audits);
        const bool storable = slot.diverged || slot.stored;
        if (fault) return note_fault(slot, storable ? Reason::kPaidAccused : Reason::kNotStored, *fault);
    } else if (const auto fault = find_mismatch(reveal->trace, spec, findings)) {
        return note_fault(slot, Reason::kMismatch, *fault);
    }
    const bool open =
        std::any_of(findings.begin(), findings.end(), [](const UnitFinding& f) { return !f.decided; });
    if (slot.diverged) {
        // A claim that ends the work early, and is paid in full, is never paid by default.
        const bool decided = is_divergence_decided(spec, *reveal, findings);
        slot.verdict = decided ? Reason::kPaidDiverged : Reason::kUnresolved;
    } else if (!slot.stored) {
        slot.verdict = Reason::kNotStored;
    } else {
        slot.verdict = open ? Reason::kPaidUndecided : Reason::kPaid;
    }
}

}  // namespace

bool is_missed(const StateView& state, const Job& job, std::uint32_t round, const SlotRound& slot) {
    if (!slot.assigned || slot.committed) return false;
    const CarriedIn carried = carried_in(state, job.id, round, slot.slot);
    return carried.nothing() || carried.holder == slot.miner;
}

namespace {

/// An absence is free where attendance has made up for those before; a joiner's first is not.
Reason uncommitted(RunningRound& running, const SlotRound& slot) {
    const bool missed = is_missed(running.work.state, running.job, running.round.number, slot);
    const bool again = missed && roster_entry(running.job, slot.miner).missed > 0;
    return again ? Reason::kNoCommitAgain : Reason::kNoCommit;
}

}  // namespace

void conclude(RunningRound& running) {
    for (SlotRound& slot : running.slots) {
        slot.stored = is_stored(running.work.state, running.job, running.round, slot);
        if (!slot.assigned) {
            slot.verdict = Reason::kNotAssigned;
        } else if (!slot.committed) {
            slot.verdict = uncommitted(running, slot);
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

}  // namespace assay::contracts
