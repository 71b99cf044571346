// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/tree.hpp"

#include "contracts/base/check.hpp"

namespace assay::dispute {

StoredTree::StoredTree(std::vector<Hash256> leaves) {
    rows_.push_back(std::move(leaves));
    while (rows_.back().size() > 1) {
        const std::vector<Hash256>& below = rows_.back();
        std::vector<Hash256> above;
        above.reserve(below.size() / 2 + 1);
        for (std::size_t i = 0; i + 1 < below.size(); i += 2) {
            above.push_back(base::merkle_node(below[i], below[i + 1]));
        }
        if (below.size() % 2 != 0) above.push_back(below.back());
        rows_.push_back(std::move(above));
    }
}

Hash256 StoredTree::root() const { return leaves() == 0 ? base::merkle_empty_root() : rows_.back().front(); }

std::vector<Hash256> StoredTree::siblings(std::uint64_t index) const {
    ASSAY_CHECK(index < leaves());
    std::vector<Hash256> out;
    for (std::size_t height = 0; height + 1 < rows_.size(); ++height) {
        if ((index ^ 1U) < rows_[height].size()) out.push_back(rows_[height][index ^ 1U]);
        index /= 2;
    }
    return out;
}

std::size_t sibling_count(std::uint64_t index, std::uint64_t leaves) {
    std::size_t count = 0;
    for (; leaves > 1; leaves = leaves / 2 + leaves % 2) {
        count += (index ^ 1U) < leaves ? 1 : 0;
        index /= 2;
    }
    return count;
}

Hash256 climb(Hash256 leaf, std::uint64_t index, std::uint64_t leaves, std::span<const Hash256> siblings) {
    ASSAY_CHECK(siblings.size() == sibling_count(index, leaves));
    std::size_t used = 0;
    for (; leaves > 1; leaves = leaves / 2 + leaves % 2) {
        if ((index ^ 1U) < leaves) {
            const Hash256& sibling = siblings[used++];
            leaf = index % 2 == 0 ? base::merkle_node(leaf, sibling) : base::merkle_node(sibling, leaf);
        }
        index /= 2;
    }
    return leaf;
}

}  // namespace assay::dispute
