// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/question.hpp"

namespace assay::dispute {

bool is_row(std::uint64_t leaves, const TreeRow& row) {
    if (row.nodes == 0 || row.nodes > kMaxMoveHashes || row.height >= 64) return false;
    const std::uint64_t whole = leaves >> row.height;
    const bool has_rest = (leaves & ((std::uint64_t{1} << row.height) - 1)) != 0;
    const std::uint64_t nodes = whole + (has_rest ? 1 : 0);
    return row.nodes <= nodes && row.first <= nodes - row.nodes;
}

}  // namespace assay::dispute
