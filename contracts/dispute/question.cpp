// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/question.hpp"

namespace assay::dispute {

namespace {
// Nodes of a tree at a height, which may be above its root.
std::uint64_t nodes_at(std::uint64_t leaves, std::uint32_t height) {
    const bool has_rest = (leaves & ((std::uint64_t{1} << height) - 1)) != 0;
    return (leaves >> height) + (has_rest ? 1 : 0);
}
}  // namespace

bool is_row(std::uint64_t leaves, const TreeRow& row) {
    if (row.nodes == 0 || row.nodes > kMaxMoveHashes || row.height >= 64) return false;
    // Above the root is nothing.
    if (row.height > 0 && nodes_at(leaves, row.height - 1) <= 1) return false;
    const std::uint64_t nodes = nodes_at(leaves, row.height);
    return row.nodes <= nodes && row.first <= nodes - row.nodes;
}

}  // namespace assay::dispute
