// SPDX-License-Identifier: Apache-2.0
// Merkle trees of the shape of RFC 6962 §2.1. Leaves and nodes are BLAKE2b-256, each under a personalisation
// (personal.hpp): a leaf of data, a node of left ‖ right. An odd node is promoted unchanged. Without leaves
// the root is the tagged hash "merkle/empty".
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/hash.hpp"

namespace assay::base {

/// A leaf of a list whose items have no kind of their own.
Hash256 merkle_leaf(ByteView data);
Hash256 merkle_leaf(const Personal& kind, ByteView data);
Hash256 merkle_node(const Hash256& left, const Hash256& right);
Hash256 merkle_empty_root();

/// Root over leaf hashes, in order; `hash` computes the nodes of a level.
Hash256 merkle_root(const std::vector<Hash256>& leaf_hashes, BatchHash hash = hash_one_by_one);

/// Siblings from the leaf upwards; levels at which the node is promoted have no sibling.
struct InclusionProof {
    std::uint64_t index = 0;
    std::uint64_t leaf_count = 0;
    std::vector<Hash256> siblings;

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.index, self.leaf_count, self.siblings);
    }
};

/// REQUIRES index < leaf_hashes.size().
InclusionProof merkle_prove(const std::vector<Hash256>& leaf_hashes, std::uint64_t index);

/// True when `leaf_hash` is at proof.index under `root`, if the tree has proof.leaf_count leaves. A root does
/// not determine their number, so a caller that relies on the place must know the number from elsewhere.
/// Refuses missing and surplus siblings.
bool merkle_verify(const Hash256& root, const Hash256& leaf_hash, const InclusionProof& proof);

}  // namespace assay::base
