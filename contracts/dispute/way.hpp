// SPDX-License-Identifier: Apache-2.0
// The way down of a game as one small state machine: what the claimant posts next, what the challenger may
// pick of it, and which witness ends it (docs/reference/disputes.md). It is pure: no clocks, no money. The
// ledger keeps a Way; players reconstruct the same Way from the moves that they read.
#pragma once

#include <optional>
#include <vector>

#include "contracts/dispute/unit.hpp"

namespace assay::dispute {

/// What is posted and picked. Frozen numbers.
enum class WayStage : std::uint8_t {
    kStates = 1,        ///< roots of states inside the segment
    kOutputs = 2,       ///< rows of the tree over the outputs of the step
    kComponents = 3,    ///< the leaves of the state after the step
    kStateTensors = 4,  ///< rows of the tree over the tensors of one of its arrays
    kArrays = 5,        ///< for a merge: the roots of parameters and momentum
    kTensors = 6,       ///< rows of the tree over the tensors of an array
    kTiles = 7,         ///< rows of the tree over the tiles of an output or tensor
    kPartials = 8,      ///< rows of the tree over the partials of the tile, but the last
    kWitness = 9,       ///< nothing is left to pick; the claimant opens
};
std::string_view to_text(WayStage stage);

/// What a challenger that agrees with every output rejects at a step's end. Frozen numbers.
enum class StepEnd : std::uint8_t {
    kState = 1,       ///< the state after the step does not follow from the outputs
    kLoss = 2,        ///< the loss is not its fingerprint
    kNorm = 3,        ///< the gradient norm is not its fingerprint
    kDivergence = 4,  ///< the operator at which the work ended wrote only finite numbers
};

/// The first of what was posted that the challenger rejects.
struct Pick {
    /// The index among the posted hashes, from 0. At kStates, one after the last stands for the step at which
    /// the work ended. At the first row of kPartials, one after the last stands for the tile. With an `end`
    /// it is 0.
    std::uint64_t index = 0;
    std::optional<StepEnd> end;  ///< at the first row of kOutputs
    friend bool operator==(const Pick&, const Pick&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.index, self.end);
    }
};

/// The position of a game.
struct Way {
    WayStage stage = WayStage::kStates;
    /// The first wrong step lies between the states before `first` and before `last`. Once one step is left,
    /// it is that step; `last` == `first` for the step at which the work ended.
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    Hash256 start;
    Hash256 end;
    TreeRow row;  ///< of the current tree: the row that is awaited, or was posted
    /// The hash into which the row must fold; if there is none, the row's own root becomes fixed.
    std::optional<Hash256> above;
    PartialPosition at;     ///< as far as it is known
    ArrayPosition array;    ///< the same, for an array
    bool is_outer = false;  ///< for a merge: whether it is the momentum
    std::optional<StepEnd> step_end;
    EndPosition state;            ///< for StepEnd::kState, as far as it is known
    Hash256 outputs;              ///< root over the step's outputs
    Hash256 partials;             ///< root over the tile's partials but the last
    Hash256 picked;               ///< hash of the disputed partial
    std::vector<Hash256> posted;  ///< empty when the claimant is to move
    friend bool operator==(const Way&, const Way&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.stage, self.first, self.last, self.start, self.end, self.row, self.above, self.at,
              self.array, self.is_outer, self.step_end, self.state, self.outputs, self.partials, self.picked,
              self.posted);
    }

    [[nodiscard]] bool claimant_moves() const { return posted.empty(); }
};

/// The start of a game about the unit. REQUIRES a segment with a step, completed or not.
Way begin_way(UnitFacts& facts);

/// How many hashes the claimant posts next; 0 at kWitness, or when the challenger is to move.
std::uint64_t wanted_hashes(const Way& way);
/// Whether these hashes may be posted: as many as wanted, and folding into what is fixed.
bool may_post(const Way& way, UnitFacts& facts, const std::vector<Hash256>& hashes);
/// Carries out the claimant's move. REQUIRES may_post.
void post(Way& way, UnitFacts& facts, std::vector<Hash256> hashes);

/// Whether the challenger may pick this. Any other pick is no move.
bool may_pick(const Way& way, UnitFacts& facts, const Pick& pick);
/// Carries out the challenger's move. REQUIRES may_pick.
void pick(Way& way, UnitFacts& facts, const Pick& pick);

/// Judges the end of the game. The claimant made the witness, so any fault in it counts against the claimant.
/// REQUIRES kWitness.
GameVerdict judge_way(const Way& way, UnitFacts& facts, base::ByteView witness);

/// What is disputed, as far as it is known: "slot 3, round 5, segment 2, step 7: `h.2.mlp.c_fc` dX tile
/// (3,7), term 2" (words.hpp has its pieces).
std::string describe_way(const Way& way, UnitFacts& facts);

}  // namespace assay::dispute

namespace assay::base {
ASSAY_ENUM_RANGE(dispute::WayStage, kStates, kWitness);
ASSAY_ENUM_RANGE(dispute::StepEnd, kState, kDivergence);
}  // namespace assay::base
