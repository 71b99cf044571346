// SPDX-License-Identifier: Apache-2.0
// The referee of what is computed from whole arrays: a slot's update (`finalise`), and a merge. The way down
// is array → tensor → tile → partial. Roots of tensors fold into the array's root by fold_array; tiles and
// partials are as in position.hpp. A tile of an update has one partial. A tile of a merged array has a
// partial with 128-bit sums after every 64 slots, and then the tile.
#pragma once

#include "contracts/arithmetic/update.hpp"
#include "contracts/dispute/referee.hpp"
#include "contracts/program/round_law.hpp"

namespace assay::dispute {

/// The number of a merge's slots that one partial adds.
inline constexpr std::uint64_t kTermSlots = 64;

/// What is computed. Frozen numbers.
enum class ArrayUnit : std::uint8_t {
    kUpdate = 1,        ///< from the round's base (state 0) and the slot's last boundary (state 1)
    kMergedParameters,  ///< from the round's base (state 0) and the merged slots' updates (arrays, in order)
    kMergedOuter,       ///< the outer optimizer's momentum, from the same
};

/// What everyone knows about a unit. `slots` has the weights and clips of the merge claim, in the order of
/// the arrays' roots. If they are out of range, the claimant loses (kOutOfRange). It points into a job's law,
/// which must outlive it.
struct ArrayFacts {
    ArrayUnit unit = ArrayUnit::kUpdate;
    const std::vector<program::TensorInfo>* tensors = nullptr;
    const program::StrategyRow* row = nullptr;
    program::RoundSettings settings;
    std::vector<arithmetic::WeightedUpdate> slots;
};

struct ArrayPosition {
    std::uint32_t tensor = 0;
    std::uint64_t tile = 0;
    std::uint64_t partial = 0;
    friend bool operator==(const ArrayPosition&, const ArrayPosition&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.tensor, self.tile, self.partial);
    }
};

/// Root of an array from the roots of its tensors (state_root.hpp). REQUIRES one root for each tensor.
Hash256 fold_array(const std::vector<program::TensorInfo>& tensors, const std::vector<Hash256>& roots);

/// Whether the referee can compute such arrays for a strategy. It knows one outer optimizer, and cannot judge
/// a codec that reads an array as a whole.
bool has_referee(const program::StrategyRow& row, ArrayUnit unit);
/// Whether there is such a partial. False also when there is no referee.
bool exists(const ArrayFacts& facts, const ArrayPosition& position);
/// The number of partials of every tile. A merge REQUIRES at least one slot.
std::uint64_t partial_count(const ArrayFacts& facts);

/// Like judge() of a step (referee.hpp).
GameVerdict judge(const ArrayFacts& facts, const ArrayPosition& position, const FixedHashes& fixed,
                  base::ByteView witness);
/// Judges the claim that the work ended at `finalise`, because the update has a number that its codec cannot
/// write. Witness: u32 tensor ‖ u64 tile ‖ the openings of that tile. REQUIRES facts of an update.
GameVerdict judge_update_divergence(const ArrayFacts& facts, const FixedHashes& fixed,
                                    base::ByteView witness);
base::Bytes update_divergence_witness(const ArrayFacts& facts, std::uint32_t tensor, std::uint64_t tile,
                                      StepMemory& memory);
base::Bytes make_witness(const ArrayFacts& facts, const ArrayPosition& position, StepMemory& memory,
                         const std::vector<Cells>& partials, const StoredTree& tree);
/// All partials of a tile from what `memory` holds. REQUIRES a tile that exists.
std::vector<Cells> compute_partials(const ArrayFacts& facts, const ArrayPosition& position,
                                    StepMemory& memory);

}  // namespace assay::dispute
