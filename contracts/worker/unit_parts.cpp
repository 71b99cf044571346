// SPDX-License-Identifier: Apache-2.0
#include "contracts/worker/unit_parts.hpp"

#include <cstddef>
#include <cstdio>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"

namespace assay::worker {

using program::Fingerprint;

namespace {

std::string in_fingerprints(const program::StepRange& range, const std::vector<Fingerprint>& claimed,
                            const std::vector<Fingerprint>& computed) {
    for (std::size_t i = 0; i < computed.size(); ++i) {
        const std::size_t step = range.first + i;
        if (i >= claimed.size()) return "step " + std::to_string(step) + " is missing from the claimed trace";
        if (claimed[i] == computed[i]) continue;
        char text[160];
        std::snprintf(text, sizeof text,
                      "step %zu: claimed loss bits 0x%08x and norm bits 0x%08x, recomputed 0x%08x and 0x%08x",
                      step, claimed[i].loss, claimed[i].norm, computed[i].loss, computed[i].norm);
        return text;
    }
    return {};
}

}  // namespace

UnitParts parts_behind_divergence(const program::JobSpec& spec, std::uint32_t unit,
                                  const base::Hash256& boundary) {
    UnitParts parts;
    if (program::RoundPlan(spec).is_finalise(unit)) {
        parts.unit_root = program::carries_state(spec) ? program::finalise_unit_root({}, {})
                                                       : program::finalise_unit_root(base::Hash256());
    } else {
        parts.end_root = boundary;
        parts.unit_root = program::segment_unit_root(boundary, {}, std::nullopt);
    }
    return parts;
}

UnitParts claimed_parts(const program::TraceRecord& trace, const program::JobSpec& spec, std::uint32_t unit) {
    const program::RoundPlan plan(spec);
    UnitParts parts;
    parts.unit_root = program::unit_root(trace, spec, unit);
    if (plan.is_finalise(unit)) {
        parts.update = trace.update;
        if (trace.carried) parts.carried_out = trace.carried->out;
        return parts;
    }
    const program::StepRange range = plan.steps(unit);
    parts.end_root = trace.boundaries[unit + 1];
    for (std::size_t step = range.first; step < range.last && step < trace.fingerprints.size(); ++step) {
        parts.fingerprints.push_back(trace.fingerprints[step]);
    }
    const bool here =
        trace.divergence && trace.divergence->step >= range.first && trace.divergence->step < range.last;
    if (here) parts.divergence = trace.divergence;
    return parts;
}

std::string name_difference(const program::TraceRecord& claimed, const program::JobSpec& spec,
                            std::uint32_t unit, const UnitParts& computed) {
    const program::RoundPlan plan(spec);
    const UnitParts said = claimed_parts(claimed, spec, unit);
    if (said.unit_root == computed.unit_root) return {};
    const auto roots = [](const std::string& what, const base::Hash256& one, const base::Hash256& other) {
        return what + ": claimed root " + one.brief() + ", recomputed " + other.brief();
    };
    if (plan.is_finalise(unit)) {
        return said.update != computed.update
                   ? roots("update", said.update, computed.update)
                   : roots("carried state", said.carried_out, computed.carried_out);
    }
    const std::string named = in_fingerprints(plan.steps(unit), said.fingerprints, computed.fingerprints);
    if (said.end_root != computed.end_root) {
        const std::string ends =
            roots("boundary " + std::to_string(unit + 1), said.end_root, computed.end_root);
        return named.empty() ? ends : ends + "; " + named;
    }
    return named.empty() ? "the claimed divergence is not the recomputed one" : named;
}

}  // namespace assay::worker
