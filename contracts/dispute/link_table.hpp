// SPDX-License-Identifier: Apache-2.0
// Gives disputes the columns of the operator table that are about them: a row for each kind of operator, with
// the law of its links. A tile that can be computed in one go has one link, itself. Any other has a list of
// links: accumulators after at most kTermLength elements, each made of earlier links and a bounded part of
// the operands; the last one is the tile. A new operator needs a row here and, if no law fits, a law.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "contracts/dispute/cells.hpp"
#include "contracts/dispute/facts.hpp"

namespace assay::dispute {

class TileWork;

/// What a link holds. Frozen numbers.
enum class LinkPhase : std::uint8_t {
    kTile = 1,  ///< the tile
    kMaxima,    ///< largest magnitudes of a block's rows and columns, so far (profile i16)
    kSums,      ///< integer sums of a block, so far (profile i16)
    kChains,    ///< chains over elements, so far
    kTotals,    ///< sums over blocks or sequences, so far
    kLanes,     ///< 32 lanes of each row, so far
    kLargest,   ///< largest numbers of each row, so far
    kTree,      ///< 64 nodes of the tree of the global norm
};
std::string_view to_text(LinkPhase phase);

/// A link in words: its phase; the block, sequence or row of the tree; the term in it.
struct LinkPlace {
    LinkPhase phase = LinkPhase::kTile;
    std::uint64_t block = 0;
    std::uint64_t term = 0;
    friend bool operator==(const LinkPlace&, const LinkPlace&) = default;
};

/// The links of one tile.
class LinkLaw {
public:
    explicit LinkLaw(TileWork& work) : w(work) {}
    LinkLaw(const LinkLaw&) = delete;
    LinkLaw& operator=(const LinkLaw&) = delete;
    virtual ~LinkLaw() = default;

    /// How many, the tile included.
    [[nodiscard]] virtual std::uint64_t links() const = 0;
    /// REQUIRES link < links(), as below.
    [[nodiscard]] virtual LinkPlace place(std::uint64_t link) const = 0;
    [[nodiscard]] virtual CellShape shape(std::uint64_t link) const = 0;
    /// Computes a link. Total: whatever the reader gives.
    [[nodiscard]] Cells compute(std::uint64_t link);

protected:
    virtual void fill(std::uint64_t link, Cells& out) = 0;
    [[nodiscard]] CellShape tile_shape() const;
    TileWork& w;
};

struct LinkRow {
    program::OperatorKind kind = program::OperatorKind::kEmbedding;
    std::unique_ptr<LinkLaw> (*law)(TileWork& work) = nullptr;
    /// Of an output that the operator writes some columns of.
    Columns (*columns)(const program::ModelConfig& model) = nullptr;
    /// Writes, of a square of a head, the keys that a query sees.
    bool is_square = false;
};

/// The row of a kind: every kind has one.
const LinkRow& link_row(program::OperatorKind kind);

/// Rows by what they compute; together all of them.
std::span<const LinkRow> element_rows();
std::span<const LinkRow> row_sum_rows();
std::span<const LinkRow> product_rows();
std::span<const LinkRow> column_sum_rows();
std::span<const LinkRow> norm_rows();

}  // namespace assay::dispute
