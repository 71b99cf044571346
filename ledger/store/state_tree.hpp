// SPDX-License-Identifier: Apache-2.0
// StateTree is a compact sparse Merkle tree over all keys of the state (after Lisk LIP-0039), for states and
// their proofs. A key is at the path H("assay/state/key", key); a subtree that holds one leaf is that leaf;
// an empty subtree is 32 zero bytes. The root depends only on the content, not on the order of the changes.
//   leaf = H("assay/state/leaf", path ‖ H("assay/state/value", value))
//   node = H("assay/state/node", left ‖ right); bit d of the path (most significant first) chooses at depth d
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/hash.hpp"

namespace assay::ledger {

using base::Bytes;
using base::ByteView;
using base::Hash256;

/// Proves that a key has a value, or has none, under a root.
struct StateProof {
    struct Leaf {
        Hash256 path;
        Hash256 value_hash;
        template <class Self, class V>
        static void fields(Self& self, V& visit) {
            visit(self.path, self.value_hash);
        }
    };
    std::vector<Hash256> siblings;  ///< from the root downwards
    std::optional<Leaf> other;      ///< absence only: the leaf at the place where the key would be

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.siblings, self.other);
    }
};

bool verify_present(const Hash256& root, ByteView key, ByteView value, const StateProof& proof);
bool verify_absent(const Hash256& root, ByteView key, const StateProof& proof);

/// In memory; not thread-safe. Takes about 250 bytes of memory per key. A copy costs nothing, because trees
/// share common nodes.
class StateTree {
    struct Node;
    using Root = std::shared_ptr<const Node>;

public:
    /// The tree of a whole state. Computes about five hashes per key.
    static StateTree build(const std::map<Bytes, Bytes>& values);

    void put(ByteView key, ByteView value);
    void erase(ByteView key);  ///< nothing happens when the key is absent
    /// What revert() needs to undo an update.
    class Undo {
        friend class StateTree;
        explicit Undo(Root root) : root_(std::move(root)) {}
        Root root_;
    };
    /// Applies an overlay's changes: sets each value, or erases the key if the value is missing. Hashes each
    /// changed record once, and each node above a changed record once.
    Undo update(const std::map<Bytes, std::optional<Bytes>>& changes);
    /// Undoes the update. Hashes nothing.
    void revert(const Undo& undo);

    [[nodiscard]] Hash256 root() const;
    /// Proof of presence when the key is in the tree, else of absence.
    [[nodiscard]] StateProof prove(ByteView key) const;

    /// What the tree has hashed since it, or the tree of which it is a copy, was made. For tests and
    /// measurements.
    struct Hashed {
        std::uint64_t records = 0;  ///< keys and values that became leaves
        std::uint64_t nodes = 0;    ///< inner nodes
    };
    [[nodiscard]] const Hashed& hashed() const { return hashed_; }

private:
    struct Change;
    void apply(std::vector<Change> changes);

    Root root_;
    Hashed hashed_;
};

}  // namespace assay::ledger
