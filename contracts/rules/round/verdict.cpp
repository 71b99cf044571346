// SPDX-License-Identifier: Apache-2.0
// From opened audits to verdicts: a root that differs accuses the claim, and a game decides.
#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "contracts/rules/round/words.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// Null: nothing of the slot is opened.
const SlotClaim* claim_about(const AuditPosting& posting, std::uint32_t slot) {
    const auto claim = std::find_if(posting.claims.begin(), posting.claims.end(),
                                    [&](const SlotClaim& one) { return one.slot == slot; });
    return claim == posting.claims.end() ? nullptr : &*claim;
}

}  // namespace

const AuditPosting* RoundPostings::find(Stage stage, const PublicKey& verifier) {
    const auto [place, added] = read_.try_emplace({stage, verifier});
    if (added) place->second = read_audit(state_, job_, round_, stage, verifier);
    return place->second ? &*place->second : nullptr;
}

RoundPostings postings_of(const RunningRound& running) {
    return {running.work.state, running.job.id, running.round.number};
}

std::vector<SlotAudit> audits_of(RoundPostings& postings, const SlotRound& slot) {
    std::vector<SlotAudit> audits;
    if (slot.drawn_units.empty()) return audits;
    for (std::size_t i = 0; i < slot.verifiers.size(); ++i) {
        SlotAudit audit;
        audit.verifier = slot.verifiers[i];
        const AuditPosting* const posting = postings.find(stage_of(i, slot), audit.verifier);
        const SlotClaim* claim = posting != nullptr ? claim_about(*posting, slot.slot) : nullptr;
        audit.sealed = posting != nullptr && posting->sealed;
        audit.left_out = posting != nullptr && posting->opened && claim == nullptr;
        audit.flagged = posting != nullptr && has_bit(posting->replayed, slot.slot);
        if (claim != nullptr) {
            audit.opened = true;
            audit.replayed = claim->replayed;
            const auto units = claimed_units(slot.drawn_units, claim->replayed);
            for (std::size_t u = 0; u < units.size(); ++u) audit.roots.emplace(units[u], claim->roots[u]);
        }
        audits.push_back(std::move(audit));
    }
    return audits;
}

std::vector<SlotAudit> audits_of(const StateView& state, const Hash256& job, std::uint32_t round,
                                 const SlotRound& slot) {
    RoundPostings postings(state, job, round);
    return audits_of(postings, slot);
}

bool is_heard(const std::vector<SlotAudit>& audits, std::uint32_t unit) {
    return std::any_of(audits.begin(), audits.end(),
                       [&](const SlotAudit& audit) { return audit.roots.contains(unit); });
}

namespace {

/// Whether nobody who was drawn opened a root of one of the drawn units.
bool is_undecided(const SlotRound& slot, const std::vector<SlotAudit>& audits) {
    return std::any_of(slot.drawn_units.begin(), slot.drawn_units.end(),
                       [&](std::uint32_t unit) { return !is_heard(audits, unit); });
}

}  // namespace

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

bool confirm_replays(RunningRound& running) {
    RoundPostings postings = postings_of(running);
    bool drawn = false;
    for (SlotRound& slot : running.slots) {
        const auto audits = audits_of(postings, slot);
        std::size_t sealed = 0;
        std::size_t replayed = 0;
        for (const SlotAudit& audit : audits) {
            sealed += audit.sealed ? 1 : 0;
            replayed += audit.flagged ? 1 : 0;
        }
        if (needs_confirmation(slot.served, audits.size(), sealed, replayed))
            drawn = draw_one_more(running, slot, Stage::kConfirm) || drawn;
    }
    return drawn;
}

bool redraw_slots(RunningRound& running) {
    RoundPostings postings = postings_of(running);
    bool drawn = false;
    for (SlotRound& slot : running.slots) {
        const auto audits = audits_of(postings, slot);
        if (is_undecided(slot, audits)) drawn = draw_one_more(running, slot, Stage::kRedraw) || drawn;
    }
    return drawn;
}

namespace {

/// Whether somebody computed the unit in which the revealed trace ended.
bool is_divergence_heard(const program::JobSpec& spec, const Reveal& reveal,
                         const std::vector<SlotAudit>& audits) {
    return is_heard(audits, program::RoundPlan(spec).unit_of(reveal.trace.divergence->step));
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

void judge(RunningRound& running, RoundPostings& postings, SlotRound& slot) {
    const State& state = running.work.state;
    const program::JobSpec& spec = running.job.spec;
    const auto reveal = read_reveal(state, running.job.id, running.round.number, slot.slot);
    ASSAY_CHECK(reveal.has_value());
    const auto audits = audits_of(postings, slot);
    const bool storable = slot.diverged || slot.stored;
    // Whether its bytes are held or not, its bond answers for it. Without them nobody could have taken its
    // update, so that no accuser kept it out.
    if (const auto fault = find_accusation(reveal->trace, spec, audits))
        return note_fault(slot, storable ? Reason::kPaidAccused : Reason::kNotStored, *fault);
    if (slot.diverged) {
        // A claim that ends the work early, and is paid in full, is never paid by default.
        slot.verdict =
            is_divergence_heard(spec, *reveal, audits) ? Reason::kPaidDiverged : Reason::kUnresolved;
    } else if (!slot.stored) {
        slot.verdict = Reason::kNotStored;
    } else {
        slot.verdict = is_undecided(slot, audits) ? Reason::kPaidUndecided : Reason::kPaid;
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
    RoundPostings postings = postings_of(running);
    for (SlotRound& slot : running.slots) {
        slot.stored = is_stored(running.work.state, running.job, running.round, slot);
        if (!slot.assigned) {
            slot.verdict = Reason::kNotAssigned;
        } else if (!slot.committed) {
            slot.verdict = uncommitted(running, slot);
        } else if (!slot.revealed) {
            slot.verdict = Reason::kSilentAfterDraw;
        } else {
            judge(running, postings, slot);
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
