// SPDX-License-Identifier: Apache-2.0
// Gives states and their proofs StateTree, a compact sparse Merkle tree over all keys of the state (after
// Lisk LIP-0039). A key stands at the path H("assay/state/key", key); a subtree that holds one leaf is
// that leaf; an empty subtree is 32 zero bytes. The root depends on the content only, not on the order in
// which it came about.
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

/// Shows that a key has a value, or has none, under a root.
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
    std::optional<Leaf> other;      ///< absence only: the leaf that stands where the key would

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.siblings, self.other);
    }
};

bool verify_present(const Hash256& root, ByteView key, ByteView value, const StateProof& proof);
bool verify_absent(const Hash256& root, ByteView key, const StateProof& proof);

/// In memory; not thread-safe. Memory about 250 bytes a key. A copy costs nothing: trees share what they have
/// in common.
class StateTree {
    struct Node;
    using Root = std::shared_ptr<const Node>;

public:
    /// The tree of a whole state: about five hashes a key.
    static StateTree build(const std::map<Bytes, Bytes>& values);

    void put(ByteView key, ByteView value);
    void erase(ByteView key);  ///< nothing happens when the key is absent
    /// What revert() needs to take an update back.
    class Undo {
        friend class StateTree;
        explicit Undo(Root root) : root_(std::move(root)) {}
        Root root_;
    };
    /// Applies an overlay's changes: each value set, or erased where it is missing. Hashes each changed
    /// record, and each node above one of them once.
    Undo update(const std::map<Bytes, std::optional<Bytes>>& changes);
    /// Hashes nothing.
    void revert(const Undo& undo);

    [[nodiscard]] Hash256 root() const;
    /// Proof of presence when the key is in the tree, else of absence.
    [[nodiscard]] StateProof prove(ByteView key) const;

    /// What the tree has hashed since it was made, or the tree that it is a copy of. For tests and
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
