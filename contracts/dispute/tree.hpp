// SPDX-License-Identifier: Apache-2.0
// StoredTree is a Merkle tree (merkle.hpp) with all its nodes, for players; climb() goes from a leaf up to
// the root, for the referee. An opening carries only siblings, since index and number of leaves are known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contracts/base/merkle.hpp"

namespace assay::dispute {

using base::Hash256;

class StoredTree {
public:
    StoredTree() = default;
    explicit StoredTree(std::vector<Hash256> leaves);
    [[nodiscard]] std::uint64_t leaves() const { return rows_.empty() ? 0 : rows_.front().size(); }
    /// merkle_root of the leaves.
    [[nodiscard]] Hash256 root() const;
    /// All nodes `height` rows above the leaves. REQUIRES a height of the tree.
    [[nodiscard]] std::span<const Hash256> row(std::uint32_t height) const { return rows_[height]; }
    /// Siblings from leaf `index` upwards. REQUIRES index < leaves().
    [[nodiscard]] std::vector<Hash256> siblings(std::uint64_t index) const;

private:
    std::vector<std::vector<Hash256>> rows_;
};

/// The number of siblings of leaf `index` of `leaves`.
std::size_t sibling_count(std::uint64_t index, std::uint64_t leaves);
/// Computes the root above a leaf. REQUIRES sibling_count(index, leaves) siblings.
Hash256 climb(Hash256 leaf, std::uint64_t index, std::uint64_t leaves, std::span<const Hash256> siblings);

}  // namespace assay::dispute
