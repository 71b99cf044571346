// SPDX-License-Identifier: Apache-2.0
// TraceRecord is what a miner claims about a slot's round, in the form in which it is committed, opened leaf
// by leaf, revealed and checked (docs/formats/trace.md).
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/base/merkle.hpp"
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

/// The roots of what a slot carries in from its last accepted round and of what it carries out (carried_root,
/// in state_root.hpp); zero when nothing. Only in jobs that carry (round_law.hpp).
struct Carried {
    Hash256 in;
    Hash256 out;

    friend bool operator==(const Carried&, const Carried&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.in, self.out);
    }
};

struct TraceRecord {
    std::vector<Hash256> boundaries;        ///< a state root for each boundary of the plan
    std::vector<Fingerprint> fingerprints;  ///< of the completed steps; fewer than inner_steps when diverged
    std::optional<Divergence> divergence;
    Hash256 update;                  ///< zero when diverged
    std::optional<Carried> carried;  ///< present in jobs that carry; its `out` is zero when diverged

    friend bool operator==(const TraceRecord&, const TraceRecord&) = default;
    /// One byte has a flag for each optional field that follows: 1 for the divergence, 2 for what is carried.
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.boundaries, self.fingerprints);
        auto present = static_cast<std::uint8_t>((self.divergence ? 1 : 0) + (self.carried ? 2 : 0));
        visit(present);
        if constexpr (!std::is_const_v<Self>) self.expect(present, visit);
        if (self.divergence) visit(*self.divergence);
        visit(self.update);
        if (self.carried) visit(*self.carried);
    }

private:
    template <class V>
    void expect(std::uint8_t present, V& visit) {
        if (present > 3) visit.refuse(base::DecodeError::kBadBool);
        divergence.reset();
        carried.reset();
        if ((present & 1U) != 0) divergence.emplace();
        if ((present & 2U) != 0) carried.emplace();
    }
};

/// What a leaf of the trace's tree holds. Frozen numbers, in the order of the leaves.
enum class TraceLeafKind : std::uint8_t {
    kStart = 1,           ///< of segment `place`: the root of the boundary before it
    kEnd = 2,             ///< of segment `place`: the root of the boundary after it
    kFingerprint = 3,     ///< of step `place`; empty when the work ended before it
    kFinaliseInput = 4,   ///< the root of the last boundary
    kFinaliseOutput = 5,  ///< the update root, and what is carried
    kDivergence = 6,      ///< the divergence; empty when there is none
};

/// A leaf as it is hashed: merkle_leaf(encoding of kind, place, content, salt). Its content is the encoding
/// of what its kind describes.
struct TraceLeaf {
    TraceLeafKind kind = TraceLeafKind::kStart;
    std::uint32_t place = 0;  ///< of its kind; 0 when the kind has one leaf
    base::Bytes content;
    Hash256 salt;  ///< trace_leaf_salt(...)

    friend bool operator==(const TraceLeaf&, const TraceLeaf&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.kind, self.place, self.content, self.salt);
    }
};

/// One leaf, opened under the root of a trace. It reveals nothing about the other leaves, since each has its
/// own salt.
struct TraceOpening {
    TraceLeaf leaf;
    base::InclusionProof proof;

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.leaf, self.proof);
    }
};

/// The salt of leaf `index`, H("assay/trace/salt", slot salt ‖ u32 index). The slot salt opens every leaf;
/// the salt of a leaf opens only that leaf.
Hash256 trace_leaf_salt(const Hash256& slot_salt, std::uint32_t index);

/// How many leaves the trace of a slot's round has, whatever happened in it: a start and an end for each
/// segment, a fingerprint for each step, input and output of `finalise`, the divergence.
std::uint32_t trace_leaf_count(const JobSpec& spec);

/// The number of a leaf. Each segment's start and end come first, segment by segment; then the fingerprints,
/// step by step; then the others in the order of their kinds. Nothing when the plan has no such leaf.
std::optional<std::uint32_t> trace_leaf_index(const JobSpec& spec, TraceLeafKind kind, std::uint32_t place);

/// Merkle root over all leaves. REQUIRES is_well_formed.
Hash256 trace_root(const TraceRecord& trace, const JobSpec& spec, const Hash256& slot_salt);

/// Opens one leaf. REQUIRES is_well_formed, and a leaf that the plan has.
TraceOpening open_leaf(const TraceRecord& trace, const JobSpec& spec, const Hash256& slot_salt,
                       TraceLeafKind kind, std::uint32_t place);

/// Whether the opening proves the leaf that it names, of a trace of this job, under `root`.
bool verify_leaf(const Hash256& root, const JobSpec& spec, const TraceOpening& opening);

/// The name of a leaf: its kind, and its place among the leaves of that kind.
struct LeafName {
    TraceLeafKind kind = TraceLeafKind::kStart;
    std::uint32_t place = 0;
    friend bool operator==(const LeafName&, const LeafName&) = default;
};
/// The leaf with the state from which `unit` is computed: the start of a segment, or the input of `finalise`.
/// REQUIRES a unit of the plan that does not begin at the round's base.
LeafName start_leaf(const JobSpec& spec, std::uint32_t unit);

/// The state root that an opened start, end or input of `finalise` holds. Nothing when it is another leaf or
/// holds something else.
std::optional<Hash256> opened_state(const TraceOpening& opening);

/// True when counts fit the job's round plan: a root for each boundary; inner_steps fingerprints, or as many
/// as the diverged step's number; boundaries after a divergence repeat the state before it; update root zero
/// exactly when diverged; `carried` present exactly in jobs that carry, its `out` zero exactly when diverged.
/// Every function of a whole trace REQUIRES it.
bool is_well_formed(const TraceRecord& trace, const JobSpec& spec);

/// Root of an audit unit. Segment s: H("assay/unit", encoding of: boundary s+1, the fingerprints of its
/// completed steps, the divergence if it fell in it). Unit `finalise`: H("assay/unit/finalise", update root).
Hash256 unit_root(const TraceRecord& trace, const JobSpec& spec, std::uint32_t unit);

/// The same from the parts that a verifier computed.
Hash256 segment_unit_root(const Hash256& end_boundary, const std::vector<Fingerprint>& fingerprints,
                          const std::optional<Divergence>& divergence);
Hash256 finalise_unit_root(const Hash256& update);
/// In jobs that carry: H("assay/unit/finalise/carried", update root ‖ root of what is carried out).
Hash256 finalise_unit_root(const Hash256& update, const Hash256& carried_out);

}  // namespace assay::program

namespace assay::base {
ASSAY_ENUM_RANGE(program::TraceLeafKind, kStart, kDivergence);
}  // namespace assay::base
