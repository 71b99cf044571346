// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/question.hpp"

namespace assay::dispute {

bool is_row(std::uint64_t leaves, const TreeRow& row) {
    if (row.nodes == 0 || row.nodes > kMaxMoveHashes || row.height >= 64) return false;
    // Above the root is nothing.
    if (row.height > 0 && nodes_at(leaves, row.height - 1) <= 1) return false;
    const std::uint64_t nodes = nodes_at(leaves, row.height);
    return row.nodes <= nodes && row.first <= nodes - row.nodes;
}

}  // namespace assay::dispute
