// SPDX-License-Identifier: Apache-2.0
// Cells are the numbers of one partial: accumulators in binary32, or integers.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/wide.hpp"

namespace assay::dispute {

using base::Hash256;

enum class CellKind : std::uint8_t {
    kReal = 1,   ///< binary32, a NaN always 0x7fc00000
    kWhole = 2,  ///< 64-bit integers
    kWide = 3,   ///< 128-bit integers
};

/// Kind and number of the cells of a partial. Everyone knows them from the partial's place.
struct CellShape {
    CellKind kind = CellKind::kReal;
    std::size_t count = 0;
    friend bool operator==(const CellShape&, const CellShape&) = default;
    [[nodiscard]] std::size_t bytes() const;
};

struct Cells {
    CellKind kind = CellKind::kReal;
    std::vector<float> real;          ///< of kReal
    std::vector<base::Int128> whole;  ///< of the other kinds, each within its kind's range

    /// All zero.
    static Cells of(CellShape shape);
    [[nodiscard]] std::size_t size() const { return kind == CellKind::kReal ? real.size() : whole.size(); }
    [[nodiscard]] CellShape shape() const { return {kind, size()}; }
    /// The bits of cell i, sign-extended.
    [[nodiscard]] base::Uint128 bits(std::size_t i) const;
    /// Gives every NaN the same bits.
    void make_canonical();
};

/// Encodes the cells: little-endian, one after another, nothing else.
base::Bytes encode_cells(const Cells& cells);
/// REQUIRES bytes.size() == shape.bytes().
Cells decode_cells(CellShape shape, base::ByteView bytes);

/// Hash of a partial that is not the last: the hash of its encoding under personal::kTile, or for integers
/// personal::kSumTile.
Hash256 partial_hash(const Cells& cells);
/// Hash of a tile that has `width` numbers in a row, as tensor_root makes it. REQUIRES kReal or kWhole and at
/// most 16 rows of at most 16 numbers.
Hash256 tile_hash(const Cells& cells, std::size_t width);

}  // namespace assay::dispute
