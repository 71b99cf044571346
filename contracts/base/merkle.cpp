// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/merkle.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::base {

Hash256 merkle_leaf(ByteView data) { return merkle_leaf(personal::kLeaf, data); }

Hash256 merkle_leaf(const Personal& kind, ByteView data) { return personal_hash(kind, data); }

Hash256 merkle_node(const Hash256& left, const Hash256& right) {
    return personal_hash(personal::kNode, left.view(), right.view());
}

Hash256 merkle_empty_root() { return hash("merkle/empty", {}); }

namespace {
constexpr std::size_t kNodeBytes = 2 * sizeof(Hash256::bytes);
constexpr std::size_t kNodesAtATime = 32;

// Replaces a level by the one above it.
void fold_level(std::vector<Hash256>& level, BatchHash hash) {
    const std::size_t pairs = level.size() / 2;
    std::array<std::uint8_t, kNodesAtATime * kNodeBytes> messages{};
    for (std::size_t first = 0; first < pairs; first += kNodesAtATime) {
        const std::size_t count = std::min(kNodesAtATime, pairs - first);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint8_t* node = messages.data() + i * kNodeBytes;
            const Hash256* children = level.data() + 2 * (first + i);
            std::copy(children[0].bytes.begin(), children[0].bytes.end(), node);
            std::copy(children[1].bytes.begin(), children[1].bytes.end(), node + 32);
        }
        hash({messages.data(), kNodeBytes, kNodeBytes, count, personal::kNode}, level.data() + first);
    }
    if (level.size() % 2 != 0) level[pairs] = level.back();
    level.resize((level.size() + 1) / 2);
}
}  // namespace

Hash256 merkle_root(const std::vector<Hash256>& leaf_hashes, BatchHash hash) {
    if (leaf_hashes.empty()) return merkle_empty_root();
    std::vector<Hash256> level = leaf_hashes;
    while (level.size() > 1) fold_level(level, hash);
    return level.front();
}

InclusionProof merkle_prove(const std::vector<Hash256>& leaf_hashes, std::uint64_t index) {
    ASSAY_CHECK(index < leaf_hashes.size());
    InclusionProof proof{.index = index, .leaf_count = leaf_hashes.size(), .siblings = {}};
    std::vector<Hash256> level = leaf_hashes;
    while (level.size() > 1) {
        const std::uint64_t sibling = index ^ 1U;
        if (sibling < level.size()) proof.siblings.push_back(level[sibling]);
        fold_level(level, hash_one_by_one);
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
