// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/words.hpp"

#include "contracts/program/round_plan.hpp"

namespace assay::contracts {

namespace {

/// Whether the trace says anything of the unit: a step that was completed in it or at which the work ended.
bool has_work(const program::TraceRecord& trace, const program::JobSpec& spec, std::uint32_t unit) {
    const program::RoundPlan plan(spec);
    const auto completed = static_cast<std::uint32_t>(trace.fingerprints.size());
    if (plan.is_finalise(unit)) return completed == spec.train.inner_steps;
    const program::StepRange steps = plan.steps(unit);
    const bool ends_here = trace.divergence && trace.divergence->step >= steps.first;
    return completed > steps.first || (completed == steps.first && ends_here);
}

}  // namespace

std::optional<UnitDifference> first_difference(const program::TraceRecord& trace,
                                               const program::JobSpec& spec, const SlotAudit& audit) {
    for (const auto& [unit, root] : audit.roots) {
        if (!has_work(trace, spec, unit)) continue;
        const Hash256 claimed = program::unit_root(trace, spec, unit);
        if (root != claimed) return UnitDifference{unit, claimed, root};
    }
    return std::nullopt;
}

std::vector<Accusation> accusations_of(const program::TraceRecord& trace, const program::JobSpec& spec,
                                       const std::vector<SlotAudit>& audits) {
    std::vector<Accusation> accusations;
    for (const SlotAudit& audit : audits) {
        const auto difference = first_difference(trace, spec, audit);
        if (!difference) continue;
        Accusation accusation;
        accusation.verifier = audit.verifier;
        accusation.unit = difference->unit;
        accusation.found = difference->found;
        accusations.push_back(accusation);
    }
    return accusations;
}

}  // namespace assay::contracts
