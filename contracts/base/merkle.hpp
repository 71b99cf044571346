// SPDX-License-Identifier: Apache-2.0
// Gives whoever proves or checks a part of a whole Merkle trees as in RFC 6962 §2.1, with BLAKE2b-256 for
// SHA-256: leaf = H(0x00, data), node = H(0x01, left, right), an odd node is promoted unchanged. No
// leaves: the tagged hash "merkle/empty".
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/hash.hpp"

namespace assay::base {

Hash256 merkle_leaf(ByteView data);
Hash256 merkle_node(const Hash256& left, const Hash256& right);
Hash256 merkle_empty_root();

/// First bytes of what is hashed for a leaf and for a node.
inline constexpr std::uint8_t kMerkleLeafPrefix = 0x00;
inline constexpr std::uint8_t kMerkleNodePrefix = 0x01;

/// Root over leaf hashes, in order; `hash` makes the nodes of a level.
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

/// True when `leaf_hash` stands at proof.index under `root`. Refuses missing and surplus siblings.
bool merkle_verify(const Hash256& root, const Hash256& leaf_hash, const InclusionProof& proof);

}  // namespace assay::base
