// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/trace.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"

namespace assay::program {

Hash256 trace_root(const TraceRecord& trace) { return base::hash("assay/trace", base::encode(trace)); }

bool is_well_formed(const TraceRecord& trace, const JobSpec& spec) {
    const RoundPlan plan(spec);
    const std::uint32_t last = plan.last_boundary();
    if (trace.boundaries.size() != std::size_t{last} + 1) return false;
    const std::uint32_t steps = spec.train.inner_steps;
    if (trace.divergence.has_value() != trace.update.is_zero()) return false;
    if (trace.carried.has_value() != carries_state(spec)) return false;
    if (trace.carried && trace.carried->out.is_zero() != trace.divergence.has_value()) return false;
    if (!trace.divergence) return trace.fingerprints.size() == steps;
    const std::uint32_t step = trace.divergence->step;
    if (step > steps || trace.fingerprints.size() != step) return false;
    // The state stays as it was before the diverged step: boundaries after the next one repeat it.
    const std::uint32_t first_repeat = std::min(plan.unit_of(step) + 1, last);
    for (std::uint32_t i = first_repeat; i < last; ++i) {
        if (trace.boundaries[i + 1] != trace.boundaries[i]) return false;
    }
    return true;
}

Hash256 segment_unit_root(const Hash256& end_boundary, const std::vector<Fingerprint>& fingerprints,
                          const std::optional<Divergence>& divergence) {
    base::Encoder encoder;
    encoder(end_boundary, fingerprints, divergence);
    return base::hash("assay/unit", std::move(encoder).take());
}

Hash256 finalise_unit_root(const Hash256& update) { return base::hash("assay/unit/finalise", update.view()); }

Hash256 update_unit_root(const Hash256& update) { return base::hash("assay/unit/update", update.view()); }

Hash256 finalise_unit_root(const Hash256& update, const Hash256& carried_out) {
    base::Encoder encoder;
    encoder(update, carried_out);
    return base::hash("assay/unit/finalise/carried", std::move(encoder).take());
}

Hash256 unit_root(const TraceRecord& trace, const JobSpec& spec, std::uint32_t unit) {
    const RoundPlan plan(spec);
    ASSAY_CHECK(unit <= plan.update());
    if (plan.is_update(unit)) return update_unit_root(trace.update);
    if (plan.is_finalise(unit)) {
        return trace.carried ? finalise_unit_root(trace.update, trace.carried->out)
                             : finalise_unit_root(trace.update);
    }
    const StepRange range = plan.steps(unit);
    const auto completed = static_cast<std::uint32_t>(trace.fingerprints.size());
    const std::uint32_t first = std::min(range.first, completed);
    const std::uint32_t last = std::min(range.last, completed);
    const std::vector<Fingerprint> fingerprints(trace.fingerprints.begin() + first,
                                                trace.fingerprints.begin() + last);
    std::optional<Divergence> divergence;
    if (trace.divergence && trace.divergence->step >= range.first && trace.divergence->step < range.last) {
        divergence = trace.divergence;
    }
    return segment_unit_root(trace.boundaries[unit + 1], fingerprints, divergence);
}

}  // namespace assay::program
