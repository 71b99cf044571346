// SPDX-License-Identifier: Apache-2.0
// Gives the ledger the referee of what ties the outputs of a step to what the trace claims of it: the state
// at its end, its fingerprint, its divergence. Nothing is computed: the claimant has to open the same hash
// under both roots. A challenger who agrees with every output names one of these.
#pragma once

#include "contracts/dispute/referee.hpp"
#include "contracts/program/trace.hpp"

namespace assay::dispute {

/// A part of the state behind a step. Frozen numbers.
enum class EndPart : std::uint8_t {
    kTensor = 1,   ///< `component` is an array, `place` a tensor of it: the root that its AdamW wrote
    kCounter = 2,  ///< `component` is no array of the step's: known to all
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

/// The output that ends as a tensor of an array of the state, in the list of all outputs. Nothing: no array
/// of the step's, or no such tensor.
std::optional<std::uint32_t> end_output(const StepFacts& facts, std::uint32_t component, std::uint32_t place);

/// Whether the state at `end` holds what the step whose outputs have the root `outputs` wrote; `known` has
/// the components of the state that are no arrays of the step's (the others in it are not looked at).
/// Witness of kTensor: the tensor's root; siblings up to `outputs`; siblings up to its array's root, and from
/// there up to `end`. Of kCounter: siblings from the component's leaf up to `end`.
GameVerdict judge_end(const StepFacts& facts, const EndPosition& position, const program::StateRoots& known,
                      const Hash256& outputs, const Hash256& end, base::ByteView witness);

/// Whether the step's loss (`is_norm`: gradient norm) has the bits of its fingerprint. Witness: as judge()
/// has the tile of that output.
GameVerdict judge_fingerprint(const StepFacts& facts, bool is_norm, const program::Fingerprint& fingerprint,
                              const Hash256& outputs, base::ByteView witness);

/// Whether the operator of facts.diverged_at wrote a number that is not finite. Witness: u32 output ‖ u64
/// tile ‖ as judge() has that tile. REQUIRES facts that say where the step diverged.
GameVerdict judge_divergence(const StepFacts& facts, const Hash256& outputs, base::ByteView witness);

/// Whether what a slot hands on (carried_root) are the moments of the state at `end`. Witness: roots of both
/// arrays, each followed by siblings from its component up to `end`.
GameVerdict judge_carried(std::uint64_t age, const Hash256& end, const Hash256& carried_out,
                          base::ByteView witness);

/// Witnesses of these.
base::Bytes end_witness(const EndPosition& position, StepMemory& memory, const StoredTree& array,
                        const StoredTree& components, const Hash256& root);
base::Bytes carried_witness(const program::StateRoots& end);
base::Bytes fingerprint_witness(StepMemory& memory, bool is_norm);
base::Bytes divergence_witness(StepMemory& memory, std::uint32_t output, std::uint64_t tile);

}  // namespace assay::dispute

namespace assay::base {
ASSAY_ENUM_RANGE(dispute::EndPart, kTensor, kCounter);
}  // namespace assay::base
