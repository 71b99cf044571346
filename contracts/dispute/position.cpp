// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/position.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/base/merkle.hpp"

namespace assay::dispute {

namespace {
constexpr std::uint32_t kMoveHeight = 11;
static_assert(kMaxMoveHashes == 1U << kMoveHeight);
}  // namespace

std::uint64_t nodes_at(std::uint64_t leaves, std::uint32_t height) {
    return height >= 64 ? 1
                        : (leaves >> height) + ((leaves & ((std::uint64_t{1} << height) - 1)) != 0 ? 1 : 0);
}

TreeRow top_row(std::uint64_t leaves) {
    std::uint32_t height = 0;
    while (nodes_at(leaves, height) > kMaxMoveHashes) ++height;
    return {height, 0, nodes_at(leaves, height)};
}

TreeRow row_below(std::uint64_t leaves, const TreeRow& row, std::uint64_t picked) {
    ASSAY_CHECK(row.height > 0 && picked >= row.first && picked - row.first < row.nodes);
    const std::uint32_t down = std::min(row.height, kMoveHeight);
    const std::uint32_t height = row.height - down;
    const std::uint64_t first = picked << down;
    const std::uint64_t end = std::min((picked + 1) << down, nodes_at(leaves, height));
    return {height, first, end - first};
}

WayCost way_cost(std::uint64_t leaves) {
    if (leaves <= 1) return {};
    TreeRow row = top_row(leaves);
    WayCost out{1, row.nodes};
    while (row.height > 0) {
        row = row_below(leaves, row, row.first);  // the first node has the most below it
        ++out.moves;
        out.hashes += row.nodes;
    }
    return out;
}

std::uint32_t moves_of(std::uint64_t leaves) { return static_cast<std::uint32_t>(way_cost(leaves).moves); }

bool folds(const TreeRow& row, const std::vector<Hash256>& hashes, const Hash256& above) {
    return hashes.size() == row.nodes && base::merkle_root(hashes) == above;
}

}  // namespace assay::dispute
