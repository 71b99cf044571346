// SPDX-License-Identifier: Apache-2.0
// The referee of the links between the outputs of a step and what the trace claims about it: the state at its
// end, its fingerprint, its divergence. Nothing is computed: the claimant has to open the same hash under
// both roots. A challenger that agrees with every output names one of these links.
#pragma once

#include "contracts/dispute/referee.hpp"
#include "contracts/program/trace.hpp"

namespace assay::dispute {

/// A part of the state after a step. Frozen numbers.
enum class EndPart : std::uint8_t {
    kTensor = 1,   ///< `component` is an array, `place` a tensor of it: the root that its AdamW wrote
    kCounter = 2,  ///< `component` is not one of the step's arrays; everyone knows it
};

struct EndPosition {
    EndPart part = EndPart::kTensor;
    std::uint32_t component = 0;  ///< StateComponent
    std::uint32_t place = 0;
    friend bool operator==(const EndPosition&, const EndPosition&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.part, self.component, self.place);
    }
};

/// The number, in the list of all outputs, of the output that becomes a tensor of an array of the state.
/// Nothing when the component is not one of the step's arrays, or there is no such tensor.
std::optional<std::uint32_t> end_output(const StepFacts& facts, std::uint32_t component, std::uint32_t place);

/// Judges whether the state at `end` holds what the step wrote whose outputs have the root `outputs`. `known`
/// has the components of the state that are not arrays of the step; its other components are ignored. Witness
/// of kTensor: the tensor's root; siblings up to `outputs`; siblings up to its array's root, and from there
/// up to `end`. Of kCounter: siblings from the component's leaf up to `end`.
GameVerdict judge_end(const StepFacts& facts, const EndPosition& position, const program::StateRoots& known,
                      const Hash256& outputs, const Hash256& end, base::ByteView witness);

/// Judges whether the step's loss (with `is_norm` its gradient norm) has the bits of its fingerprint.
/// Witness: that output's tile, as for judge().
GameVerdict judge_fingerprint(const StepFacts& facts, bool is_norm, const program::Fingerprint& fingerprint,
                              const Hash256& outputs, base::ByteView witness);

/// Judges whether the operator facts.diverged_at wrote a number that is not finite. Witness: u32 output ‖ u64
/// tile ‖ that tile, as for judge(). REQUIRES facts with diverged_at.
GameVerdict judge_divergence(const StepFacts& facts, const Hash256& outputs, base::ByteView witness);

/// Judges whether what a slot carries out (carried_root) has the moments of the state at `end`, and their
/// age. Whether that age is right is a question about the segment that ends there. Witness: roots of both
/// arrays, each followed by siblings from its component up to `end`; u64 steps ‖ u64 age, and the siblings of
/// theirs.
GameVerdict judge_carried(const Hash256& end, const Hash256& carried_out, base::ByteView witness);

/// The witnesses for these functions.
base::Bytes end_witness(const EndPosition& position, StepMemory& memory, const StoredTree& array,
                        const StoredTree& components, const Hash256& root);
base::Bytes carried_witness(const program::StateRoots& end);
base::Bytes fingerprint_witness(StepMemory& memory, bool is_norm);
base::Bytes divergence_witness(StepMemory& memory, std::uint32_t output, std::uint64_t tile);

}  // namespace assay::dispute

namespace assay::base {
ASSAY_ENUM_RANGE(dispute::EndPart, kTensor, kCounter);
}  // namespace assay::base
