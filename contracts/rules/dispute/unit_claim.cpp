// SPDX-License-Identifier: Apache-2.0
// What a claim says of one of its units, from the revealed traces and the round.
#include <algorithm>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/step_program.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/round/tables.hpp"

namespace assay::contracts {

namespace {

using dispute::UnitClaim;
using dispute::UnitKind;

/// A slot's reveal with what the ledger knows around it.
struct ClaimedSlot {
    JobTerms terms;
    RoundProgress round;
    Reveal reveal;
    std::uint64_t age = 0;  ///< of the moments that the slot showed that it goes on with
};

std::optional<ClaimedSlot> view_slot(const StateView& state, const ClaimId& id) {
    const auto terms = read_job_terms(state, id.job);
    const auto round = read_round_progress(state, id.job, id.round);
    auto reveal = read_reveal(state, id.job, id.round, id.number);
    if (!terms || !round || !reveal) return std::nullopt;
    // Not the steps of its earlier rounds: a slot is judged by what it was given, and who handed on a false
    // age is judged by its own claim.
    const std::uint64_t age = read_shown_age(state, id.job, id.round, id.number);
    return ClaimedSlot{*terms, *round, std::move(*reveal), age};
}

/// A reveal that names no operator of the step is refused (round/check.cpp).
bool names_operator(const program::JobSpec& spec, const program::Divergence& divergence) {
    return divergence.operator_index < program::step_program(spec)->operators.size();
}

std::optional<UnitClaim> segment_claim(const ClaimedSlot& slot, std::uint32_t segment) {
    const program::RoundPlan plan(slot.terms.spec);
    if (segment >= plan.segments()) return std::nullopt;
    const program::TraceRecord& trace = slot.reveal.trace;
    const program::StepRange steps = plan.steps(segment);
    const auto completed = static_cast<std::uint32_t>(trace.fingerprints.size());
    UnitClaim claim;
    claim.segment = segment;
    claim.first_step = steps.first;
    claim.last_step = std::min(steps.last, completed);
    const bool ends_here = trace.divergence && trace.divergence->step < slot.terms.spec.train.inner_steps &&
                           plan.unit_of(trace.divergence->step) == segment;
    if (ends_here) claim.diverged_at = trace.divergence->operator_index;
    if (ends_here && !names_operator(slot.terms.spec, *trace.divergence)) return std::nullopt;
    // Behind the end of the work there is nothing to dispute.
    if (claim.last_step < steps.first || (claim.last_step == steps.first && !ends_here)) return std::nullopt;
    claim.age = slot.age + steps.first;
    claim.states = {trace.boundaries[segment], trace.boundaries[segment + 1]};
    claim.fingerprints = {trace.fingerprints.begin() + claim.first_step,
                          trace.fingerprints.begin() + claim.last_step};
    return claim;
}

std::optional<UnitClaim> end_claim(const ClaimedSlot& slot, UnitKind unit) {
    const program::TraceRecord& trace = slot.reveal.trace;
    const std::uint32_t steps = slot.terms.spec.train.inner_steps;
    UnitClaim claim;
    if (trace.fingerprints.size() < steps) return std::nullopt;
    if (unit == UnitKind::kCarried) {
        if (!trace.carried || trace.divergence) return std::nullopt;
        claim.claimed = trace.carried->out;
        claim.states = {trace.boundaries.back()};
        return claim;
    }
    if (trace.divergence) claim.diverged_at = 0;
    claim.claimed = trace.update;
    claim.states = {slot.round.base_root, trace.boundaries.back()};
    return claim;
}

std::optional<UnitClaim> slot_claim(const StateView& state, const ClaimId& id, UnitKind unit,
                                    std::uint32_t part) {
    const auto slot = view_slot(state, id);
    if (!slot || (unit != UnitKind::kSegment && part != 0)) return std::nullopt;
    std::optional<UnitClaim> claim;
    if (unit == UnitKind::kSegment) claim = segment_claim(*slot, part);
    if (unit == UnitKind::kUpdate || unit == UnitKind::kCarried) claim = end_claim(*slot, unit);
    if (claim) claim->slot = id.number;
    return claim;
}

std::optional<UnitClaim> merge_unit(const StateView& state, const ClaimId& id, UnitKind unit,
                                    std::uint32_t part) {
    const auto round = read_round_progress(state, id.job, id.round);
    const auto terms = read_job_terms(state, id.job);
    if (!round || !terms || !round->merged) return std::nullopt;
    const std::vector<std::uint32_t>& slots = round->merged_slots;
    UnitClaim claim;
    claim.states = {round->base_root};
    claim.claimed = round->result.base_root;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto reveal = read_reveal(state, id.job, id.round, slots[i]);
        if (!reveal) return std::nullopt;
        const bool bounded = terms->spec.has_norm_bound();
        const std::uint32_t clip = bounded ? round->result.clips[i] : dispute::kNoClip;
        if (unit == UnitKind::kClip && slots[i] != part) continue;
        claim.updates.push_back(reveal->trace.update);
        claim.clips.push_back(clip);
    }
    if (unit == UnitKind::kMerge) return part == 0 ? std::optional(claim) : std::nullopt;
    if (unit != UnitKind::kClip || claim.clips.empty() || !terms->spec.has_norm_bound()) return std::nullopt;
    claim.slot = part;
    return claim;
}

std::optional<UnitClaim> describe(const StateView& state, const ClaimId& id, UnitKind unit,
                                  std::uint32_t part) {
    auto claim =
        id.kind == ClaimKind::kSlot ? slot_claim(state, id, unit, part) : merge_unit(state, id, unit, part);
    if (!claim) return std::nullopt;
    claim->kind = unit;
    claim->round = id.round;
    return claim;
}

bool is_judged(const StateView& state, const ClaimId& id, UnitKind unit) {
    const auto terms = read_job_terms(state, id.job);
    return terms && dispute::has_referee(program::strategy_of(terms->spec), unit);
}

}  // namespace

bool has_unit(const StateView& state, const ClaimId& id, UnitKind unit, std::uint32_t part) {
    return is_judged(state, id, unit) && describe(state, id, unit, part);
}

std::optional<UnitClaim> unit_claim(const StateView& state, const ClaimId& id, UnitKind unit,
                                    std::uint32_t part) {
    return is_judged(state, id, unit) ? describe(state, id, unit, part) : std::nullopt;
}

std::optional<UnitClaim> unjudged_unit(const StateView& state, const ClaimId& id, UnitKind unit,
                                       std::uint32_t part) {
    return describe(state, id, unit, part);
}

}  // namespace assay::contracts
