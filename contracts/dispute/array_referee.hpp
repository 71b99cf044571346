// SPDX-License-Identifier: Apache-2.0
// Gives the ledger the referee of what is made of whole arrays: a slot's update (`finalise`), and a merge.
// The way down is array → tensor → tile → partial: roots of tensors fold into the array's root by fold_array,
// tiles and partials as in position.hpp. A tile of an update has one partial. A tile of a merged array has a
// partial with 128-bit sums after every 64 slots, and the tile.
#pragma once

#include "contracts/arithmetic/update.hpp"
#include "contracts/dispute/referee.hpp"
#include "contracts/program/round_law.hpp"

namespace assay::dispute {

/// Slots of a merge that one partial adds.
inline constexpr std::uint64_t kTermSlots = 64;

/// What is computed. Frozen numbers.
enum class ArrayUnit : std::uint8_t {
    kUpdate = 1,        ///< from the round's base (state 0) and the slot's last boundary (state 1)
    kMergedParameters,  ///< from the round's base (state 0) and the merged slots' updates (arrays, in order)
    kMergedOuter,       ///< the outer optimizer's momentum, from the same
};

/// What all know of a unit. `slots`: of a merge, weights and clips by the merge claim, in the order of the
/// arrays' roots; they may be out of range, and then the claimant loses (kOutOfRange). It points into a job's
/// law.
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

/// Root of an array from the roots of its tensors (state_root.hpp). REQUIRES one for each.
Hash256 fold_array(const std::vector<program::TensorInfo>& tensors, const std::vector<Hash256>& roots);

/// Whether the referee knows how such arrays are made under a strategy: it has one outer optimizer, and
/// judges no codec that reads an array as a whole.
bool has_referee(const program::StrategyRow& row, ArrayUnit unit);
/// Whether there is such a partial: false, too, without a referee.
bool exists(const ArrayFacts& facts, const ArrayPosition& position);
/// Partials of every tile. REQUIRES a merge of at least one slot.
std::uint64_t partial_count(const ArrayFacts& facts);

/// As judge() of a step.
GameVerdict judge(const ArrayFacts& facts, const ArrayPosition& position, const FixedHashes& fixed,
                  base::ByteView witness);
/// Whether an update has a number that its codec cannot write, as a claimant says whose work ended at
/// `finalise`. Witness: u32 tensor ‖ u64 tile ‖ the openings of that tile. REQUIRES facts of an update.
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
