// SPDX-License-Identifier: Apache-2.0
// The way down of a dispute from a segment to one partial of one tile, and the rule by which the hashes of a
// move fold into the hash above them.
//
//   segment → step    state roots between steps; the first and the last are the trace's
//   step → output     tensor roots (tensor_root) of all outputs of all operators, in program order
//   output → tile     tiles of 16×16 numbers, as tensor_root hashes them
//   tile → partial       values on the way to the tile (partial_table.hpp); the last partial is the tile
//   itself
//
// A level with more children than a move may carry is posted as rows of its Merkle tree: first the lowest row
// with at most 2,048 nodes, then the rows below the node that was picked.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/hash.hpp"

namespace assay::dispute {

using base::Hash256;

/// The most hashes of a move: 64 KiB.
inline constexpr std::uint64_t kMaxMoveHashes = 2'048;

/// A partial of a tile of an output of an operator of a step. Indices count from 0, each within the level
/// above it.
struct PartialPosition {
    std::uint32_t segment = 0;
    std::uint32_t step = 0;            ///< inner step of the round
    std::uint32_t operator_index = 0;  ///< in the program of a step
    std::uint32_t output = 0;
    std::uint64_t tile = 0;
    std::uint64_t partial = 0;

    friend bool operator==(const PartialPosition&, const PartialPosition&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.segment, self.step, self.operator_index, self.output, self.tile, self.partial);
    }
};

/// The first number of a unit's own computation that may not be. Of a step it is the first in program order
/// that is not finite; of an update, one that is out of range; of a merge, one that is not finite.
struct NotFinitePlace {
    std::uint32_t operator_index = 0;  ///< of a merge: 0 for parameters, 1 for momentum; of an update: 0
    std::uint32_t output = 0;          ///< of an array: the tensor
    std::uint64_t tile = 0;
    friend bool operator==(const NotFinitePlace&, const NotFinitePlace&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.operator_index, self.output, self.tile);
    }
};

/// Neighbouring nodes of a Merkle tree (merkle.hpp), all `height` rows above the leaves.
struct TreeRow {
    std::uint32_t height = 0;
    std::uint64_t first = 0;
    std::uint64_t nodes = 0;
    friend bool operator==(const TreeRow&, const TreeRow&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.height, self.first, self.nodes);
    }
};

/// The number of nodes of a tree over `leaves` leaves at `height`, which may be above its root.
std::uint64_t nodes_at(std::uint64_t leaves, std::uint32_t height);
/// The first posted row of a tree over `leaves` leaves: its lowest row with at most kMaxMoveHashes nodes.
TreeRow top_row(std::uint64_t leaves);
/// The row that is posted below node `picked` of a row above the leaves. REQUIRES height > 0, and that
/// `picked` is a node of the row; nodes count from the tree's first at that height.
TreeRow row_below(std::uint64_t leaves, const TreeRow& row, std::uint64_t picked);
/// The number of moves from the root to a leaf: 0 for a single leaf, whose hash is the root.
std::uint32_t moves_of(std::uint64_t leaves);

/// The most that the way down through a level costs.
struct WayCost {
    std::uint64_t moves = 0;
    std::uint64_t hashes = 0;
    friend bool operator==(const WayCost&, const WayCost&) = default;
};
/// The cost for a tree over `leaves` leaves: one move per row. A single leaf is known without a move.
WayCost way_cost(std::uint64_t leaves);

/// Whether there are as many `hashes` as the row has nodes, and they fold into `above`, the hash of the node
/// above them.
bool folds(const TreeRow& row, const std::vector<Hash256>& hashes, const Hash256& above);

}  // namespace assay::dispute
