// SPDX-License-Identifier: Apache-2.0
// The law of matrix products in both profiles, for products.cpp. k consists of stretches of equal length
// (sequences, query heads, or one), a stretch of blocks of the operator's rule, and a block of terms of at
// most kTermLength elements, fewer if a tile of attention covers several heads or sequences.
//   f32  a partial a term: the chains of fma so far.
//   i16  for each block: a partial a term with the largest magnitudes so far of the block's rows and columns;
//        a partial a term with the integer sums so far; a partial with the sum of the blocks' values so far.
// The last partial is the tile.
#pragma once

#include <vector>

#include "contracts/dispute/laws.hpp"

namespace assay::dispute {

/// A part of the tile whose numbers are products of the same two matrices.
struct ProductPart {
    std::uint64_t row = 0, rows = 0;  ///< in the tile
    std::uint64_t col = 0, cols = 0;  ///< in the tile
    std::uint64_t sequence = 0;       ///< of attention
    std::uint64_t head = 0;           ///< for attention: the query head, or the key head
};

/// A run of k: elements [first, first + count) of a stretch.
struct KRange {
    std::uint64_t stretch = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    [[nodiscard]] std::uint64_t end() const { return first + count; }
};

/// The elements of a stretch that contribute to a row. The others add nothing.
enum class Seen : std::uint8_t {
    kAll = 1,
    kUpToRow,  ///< the elements up to the row's own token
    kFromRow,  ///< the elements from the row's own token on
};

struct ProductSpec {
    std::uint64_t (*stretches)(const TileWork& w) = nullptr;
    std::uint64_t (*length)(const TileWork& w) = nullptr;
    std::vector<ProductPart> (*parts)(const TileWork& w) = nullptr;
    /// a[i,k] of a part's rows: rows × count; b[k,j] of its columns: count × cols.
    NumberBlock (*left)(TileWork& w, const ProductPart& part, const KRange& k) = nullptr;
    NumberBlock (*right)(TileWork& w, const ProductPart& part, const KRange& k) = nullptr;
    /// Changes the sums in place; null when they stay.
    void (*finish)(TileWork& w, std::span<float> tile) = nullptr;
    Seen seen = Seen::kAll;
    /// Numbers to the right of the row's own token stay +0.
    bool lower_only = false;
    bool is_attention = false;
};

/// The law of a spec. The spec must outlive it.
std::unique_ptr<PartialLaw> product_law(TileWork& work, const ProductSpec& spec);

}  // namespace assay::dispute
