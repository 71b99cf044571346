// SPDX-License-Identifier: Apache-2.0
// Question and DisputeAnswer are between a player of a dispute and the machine that computes for it: what the
// player has to know about a step for its next move.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/dispute/array_referee.hpp"
#include "contracts/dispute/end_referee.hpp"
#include "contracts/dispute/position.hpp"

namespace assay::dispute {

/// What is asked of a slot's step. Frozen numbers.
enum class QuestionKind : std::uint8_t {
    kSteps = 1,       ///< `row` of the tree over the state roots after each step of the segment
    kOutputs = 2,     ///< `row` of the tree over the roots of all outputs of step at.step
    kTiles = 3,       ///< `row` of the tree over the tiles of output at.output of operator at.operator_index
    kPartials = 4,    ///< `row` of the tree over the partials of tile at.tile but the last
    kWitness = 5,     ///< the witness of partial at.partial: make_witness
    kEnd = 6,         ///< the witness of `end`: end_witness
    kLoss = 7,        ///< the witness of the step's loss: fingerprint_witness
    kNorm = 8,        ///< the same of its gradient norm
    kDivergence = 9,  ///< the witness that operator `diverged_at` wrote a number that is not finite
};

/// A fault that a drill plants in its machine's computation: bits of a number that change right after its
/// operator wrote it. On devnets only.
struct QuestionFault {
    std::uint32_t step = 0;  ///< inner step of the round
    std::uint32_t operator_index = 0;
    std::uint32_t output = 0;
    std::uint64_t element = 0;  ///< row by row
    std::uint32_t flip = 1;     ///< bits that change; 1: by one ulp
    friend bool operator==(const QuestionFault&, const QuestionFault&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.step, self.operator_index, self.output, self.element, self.flip);
    }
};

struct Question {
    QuestionKind kind = QuestionKind::kSteps;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    PartialPosition at;  ///< set as deep as the kind needs
    TreeRow row;         ///< of a tree: at most kMaxMoveHashes nodes
    EndPosition end;     ///< of kEnd
    /// Where the step ended, by the claim. Everyone knows it, and the tree's shape depends on it.
    std::optional<std::uint32_t> diverged_at;
    std::optional<QuestionFault> fault;
    friend bool operator==(const Question&, const Question&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.kind, self.round, self.slot, self.at, self.row.height, self.row.first, self.row.nodes,
              self.end, self.diverged_at, self.fault);
    }
};

/// The whole array that a question is about: a slot's update, an array that a merge gave, or a slot's clip.
/// Frozen.
enum class ArraySubject : std::uint8_t {
    kUpdate = 1,
    kMergedParameters = 2,
    kMergedOuter = 3,
    kClip = 4,
};
/// The level of the way down that a question is about. Frozen numbers.
enum class ArrayLevel : std::uint8_t {
    kTensors = 1,     ///< `row`, at height 0, of the tensors' roots that fold_array takes; not of a clip
    kTiles = 2,       ///< `row` of the tree over the tiles of tensor at.tensor; not of a clip
    kPartials = 3,    ///< `row` of the tree over the partials of tile at.tile, or of the clip, but the last
    kWitness = 4,     ///< the witness of partial at.partial
    kDivergence = 5,  ///< of an update: the witness that a number of it is out of range
};

struct ArrayQuestion {
    ArraySubject subject = ArraySubject::kUpdate;
    ArrayLevel level = ArrayLevel::kTensors;
    ArrayPosition at;  ///< set as deep as the level needs; for a clip only the partial
    TreeRow row;
    friend bool operator==(const ArrayQuestion&, const ArrayQuestion&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.subject, self.level, self.at, self.row.height, self.row.first, self.row.nodes);
    }
};

struct DisputeAnswer {
    std::vector<Hash256> hashes;  ///< of a row
    base::Bytes witness;
    /// Where the unit ends as it was computed here: for kOutputs a step, for a row of an update or a merge
    /// that array. A claim that it went on loses there. Outputs of the step after it have no tiles; an update
    /// has no numbers, and its row is zeros.
    std::optional<NotFinitePlace> diverges = std::nullopt;
    friend bool operator==(const DisputeAnswer&, const DisputeAnswer&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.hashes, self.witness, self.diverges);
    }
};

/// Whether a tree over `leaves` leaves has this row, and the row fits into a move.
bool is_row(std::uint64_t leaves, const TreeRow& row);

}  // namespace assay::dispute

namespace assay::base {
ASSAY_ENUM_RANGE(dispute::QuestionKind, kSteps, kDivergence);
ASSAY_ENUM_RANGE(dispute::ArraySubject, kUpdate, kClip);
ASSAY_ENUM_RANGE(dispute::ArrayLevel, kTensors, kDivergence);
}  // namespace assay::base
