// SPDX-License-Identifier: Apache-2.0
// The columns of the operator table for disputes: a row for each kind of operator, with the law of its
// partials. A tile that can be computed at once has one partial, itself. Any other tile has a list of
// partials: accumulators after at most kTermLength elements, each computed from earlier partials and a
// bounded part of the operands; the last one is the tile. A new operator needs a row here and, if no law
// fits, a law.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "contracts/dispute/cells.hpp"
#include "contracts/dispute/facts.hpp"

namespace assay::dispute {

class TileWork;

/// What a partial holds. Frozen numbers.
enum class PartialPhase : std::uint8_t {
    kTile = 1,  ///< the tile
    kMaxima,    ///< largest magnitudes of a block's rows and columns, so far (profile i16)
    kSums,      ///< integer sums of a block, so far (profile i16)
    kChains,    ///< chains over elements, so far
    kTotals,    ///< sums over blocks or sequences, so far
    kLanes,     ///< 32 lanes of each row, so far
    kLargest,   ///< largest numbers of each row, so far
    kTree,      ///< 64 nodes of the tree of the global norm
};
std::string_view to_text(PartialPhase phase);

/// The place of a partial: its phase; the block, sequence or row of the tree; the term in it.
struct PartialPlace {
    PartialPhase phase = PartialPhase::kTile;
    std::uint64_t block = 0;
    std::uint64_t term = 0;
    friend bool operator==(const PartialPlace&, const PartialPlace&) = default;
};

/// The partials of one tile.
class PartialLaw {
public:
    explicit PartialLaw(TileWork& work) : w(work) {}
    PartialLaw(const PartialLaw&) = delete;
    PartialLaw& operator=(const PartialLaw&) = delete;
    virtual ~PartialLaw() = default;

    /// The number of partials, the tile included.
    [[nodiscard]] virtual std::uint64_t partials() const = 0;
    /// REQUIRES partial < partials(), like the functions below.
    [[nodiscard]] virtual PartialPlace place(std::uint64_t partial) const = 0;
    [[nodiscard]] virtual CellShape shape(std::uint64_t partial) const = 0;
    /// Computes a partial, for any numbers that the reader gives.
    [[nodiscard]] Cells compute(std::uint64_t partial);

protected:
    virtual void fill(std::uint64_t partial, Cells& out) = 0;
    [[nodiscard]] CellShape tile_shape() const;
    TileWork& w;
};

struct PartialRow {
    program::OperatorKind kind = program::OperatorKind::kEmbedding;
    std::unique_ptr<PartialLaw> (*law)(TileWork& work) = nullptr;
    /// The columns that the operator writes, if it writes only some of an output's; else null.
    Columns (*columns)(const program::ModelConfig& model) = nullptr;
    /// The operator writes, in a square of a head, only the keys that a query sees.
    bool is_square = false;
};

/// The row of a kind. Every kind has one.
const PartialRow& partial_row(program::OperatorKind kind);

/// The rows, grouped by what they compute. Together they are all rows.
std::span<const PartialRow> element_rows();
std::span<const PartialRow> row_sum_rows();
std::span<const PartialRow> product_rows();
std::span<const PartialRow> column_sum_rows();
std::span<const PartialRow> norm_rows();

}  // namespace assay::dispute
