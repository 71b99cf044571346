// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/trace.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::program {

Hash256 trace_root(const TraceRecord& trace) { return base::hash("assay/trace", base::encode(trace)); }

bool is_well_formed(const TraceRecord& trace, const JobSpec& spec) {
    const std::uint32_t segments = spec.segments();
    if (trace.boundaries.size() != std::size_t{segments} + 1) return false;
    const std::uint32_t steps = spec.train.inner_steps;
    if (trace.divergence.has_value() != trace.update.is_zero()) return false;
    if (!trace.divergence) return trace.fingerprints.size() == steps;
    const std::uint32_t step = trace.divergence->step;
    if (step > steps || trace.fingerprints.size() != step) return false;
    // The state stays as it was before the diverged step: boundaries after the next one repeat it.
    const std::uint32_t first_repeat = std::min(step / spec.security.segment_steps + 1, segments);
    for (std::uint32_t i = first_repeat; i < segments; ++i) {
        if (trace.boundaries[i + 1] != trace.boundaries[i]) return false;
    }
    return true;
}

StepRange segment_steps(const JobSpec& spec, std::uint32_t segment) {
    ASSAY_CHECK(segment < spec.segments());
    const std::uint32_t length = spec.security.segment_steps;
    const std::uint32_t first = segment * length;
    return {first, first + std::min(length, spec.train.inner_steps - first)};
}

Hash256 segment_unit_root(const Hash256& end_boundary, const std::vector<Fingerprint>& fingerprints,
                          const std::optional<Divergence>& divergence) {
    base::Encoder encoder;
    encoder(end_boundary, fingerprints, divergence);
    return base::hash("assay/unit", std::move(encoder).take());
}

Hash256 finalise_unit_root(const Hash256& update) { return base::hash("assay/unit/finalise", update.view()); }

Hash256 unit_root(const TraceRecord& trace, const JobSpec& spec, std::uint32_t unit) {
    ASSAY_CHECK(unit < spec.audit_units());
    if (unit == spec.segments()) return finalise_unit_root(trace.update);
    const StepRange range = segment_steps(spec, unit);
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
