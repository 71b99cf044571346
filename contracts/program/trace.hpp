// SPDX-License-Identifier: Apache-2.0
// TraceRecord: what a slot's round claims, in the form in which it is committed, revealed and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::program {

/// Bits of a step's mean loss and of its gradient norm before clipping.
struct Fingerprint {
    std::uint32_t loss = 0;
    std::uint32_t norm = 0;

    friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.loss, self.norm);
    }
};

/// Where a slot's work ended: the first operator, in program order, with a NaN or Inf at an output. An
/// operator number equal to the length of the step program stands for `finalise` (update out of range).
struct Divergence {
    std::uint32_t step = 0;  ///< 0 … inner_steps−1; inner_steps when finalise diverged
    std::uint32_t operator_index = 0;

    friend bool operator==(const Divergence&, const Divergence&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.step, self.operator_index);
    }
};

struct TraceRecord {
    std::vector<Hash256> boundaries;        ///< segments()+1 state roots
    std::vector<Fingerprint> fingerprints;  ///< of the completed steps; fewer than inner_steps when diverged
    std::optional<Divergence> divergence;
    Hash256 update;  ///< zero when diverged

    friend bool operator==(const TraceRecord&, const TraceRecord&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.boundaries, self.fingerprints, self.divergence, self.update);
    }
};

/// H("assay/trace", encoding).
Hash256 trace_root(const TraceRecord& trace);

/// True when counts fit the job: segments()+1 boundaries; inner_steps fingerprints, or as many as the
/// diverged step's number; boundaries after a divergence repeat the state before it; update root zero exactly
/// when diverged. Everything below REQUIRES it.
bool is_well_formed(const TraceRecord& trace, const JobSpec& spec);

/// Steps [first, last) of a segment. REQUIRES segment < spec.segments().
struct StepRange {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};
StepRange segment_steps(const JobSpec& spec, std::uint32_t segment);

/// Root of an audit unit. Segment s: H("assay/unit", encoding of: boundary s+1, the fingerprints of its
/// completed steps, the divergence if it fell in it). Unit segments(): H("assay/unit/finalise", update root).
Hash256 unit_root(const TraceRecord& trace, const JobSpec& spec, std::uint32_t unit);

/// The same from the parts that a verifier computed.
Hash256 segment_unit_root(const Hash256& end_boundary, const std::vector<Fingerprint>& fingerprints,
                          const std::optional<Divergence>& divergence);
Hash256 finalise_unit_root(const Hash256& update);

}  // namespace assay::program
