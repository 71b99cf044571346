// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/merkle.hpp"

#include "contracts/base/check.hpp"

namespace assay::base {

Hash256 merkle_leaf(ByteView data) { return untagged_hash(0x00, data); }

Hash256 merkle_node(const Hash256& left, const Hash256& right) {
    return untagged_hash(0x01, left.view(), right.view());
}

Hash256 merkle_empty_root() { return hash("merkle/empty", {}); }

namespace {
// Replaces a level by the one above it.
void fold_level(std::vector<Hash256>& level) {
    const std::size_t pairs = level.size() / 2;
    for (std::size_t i = 0; i < pairs; ++i) level[i] = merkle_node(level[2 * i], level[2 * i + 1]);
    if (level.size() % 2 != 0) level[pairs] = level.back();
    level.resize((level.size() + 1) / 2);
}
}  // namespace

Hash256 merkle_root(const std::vector<Hash256>& leaf_hashes) {
    if (leaf_hashes.empty()) return merkle_empty_root();
    std::vector<Hash256> level = leaf_hashes;
    while (level.size() > 1) fold_level(level);
    return level.front();
}

InclusionProof merkle_prove(const std::vector<Hash256>& leaf_hashes, std::uint64_t index) {
    ASSAY_CHECK(index < leaf_hashes.size());
    InclusionProof proof{.index = index, .leaf_count = leaf_hashes.size(), .siblings = {}};
    std::vector<Hash256> level = leaf_hashes;
    while (level.size() > 1) {
        const std::uint64_t sibling = index ^ 1U;
        if (sibling < level.size()) proof.siblings.push_back(level[sibling]);
        fold_level(level);
        index /= 2;
    }
    return proof;
}

bool merkle_verify(const Hash256& root, const Hash256& leaf_hash, const InclusionProof& proof) {
    if (proof.index >= proof.leaf_count) return false;
    Hash256 node = leaf_hash;
    std::uint64_t index = proof.index;
    std::uint64_t width = proof.leaf_count;
    std::size_t used = 0;
    while (width > 1) {
        if ((index ^ 1U) < width) {
            if (used == proof.siblings.size()) return false;
            const Hash256& sibling = proof.siblings[used++];
            node = index % 2 == 0 ? merkle_node(node, sibling) : merkle_node(sibling, node);
        }
        index /= 2;
        width = width / 2 + width % 2;
    }
    return used == proof.siblings.size() && node == root;
}

}  // namespace assay::base
