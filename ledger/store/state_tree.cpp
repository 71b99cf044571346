// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/state_tree.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace assay::ledger {

namespace {

constexpr std::size_t kDepth = 256;

Hash256 path_of(ByteView key) { return base::hash("assay/state/key", key); }
Hash256 value_hash_of(ByteView value) { return base::hash("assay/state/value", value); }
Hash256 leaf_hash(const Hash256& path, const Hash256& value_hash) {
    return base::Hasher("assay/state/leaf").add(path).add(value_hash).finish();
}
Hash256 node_hash(const Hash256& left, const Hash256& right) {
    return base::Hasher("assay/state/node").add(left).add(right).finish();
}

// Bit `depth` of a path, the most significant of byte 0 first: true goes right.
bool goes_right(const Hash256& path, std::size_t depth) {
    return ((path.bytes[depth / 8] >> (7U - depth % 8)) & 1U) != 0;
}

Hash256 climb(const Hash256& path, Hash256 below, const std::vector<Hash256>& siblings) {
    for (std::size_t depth = siblings.size(); depth-- > 0;) {
        below =
            goes_right(path, depth) ? node_hash(siblings[depth], below) : node_hash(below, siblings[depth]);
    }
    return below;
}

}  // namespace

/// A path that gets a value, or loses it.
struct StateTree::Change {
    Hash256 path;
    std::optional<Hash256> value_hash;
};

// A leaf has a value hash and no children; an inner node has at least one child, and never exactly one child
// that is a leaf. Nodes never change: trees share those that are the same in both.
struct StateTree::Node {
    using Changes = std::span<const Change>;

    Hash256 hash;
    Hash256 path, value_hash;  // leaves only
    Root left, right;

    [[nodiscard]] bool is_leaf() const { return !left && !right; }
    static Hash256 hash_of(const Root& node) { return node ? node->hash : Hash256{}; }

    static Root leaf_of(const Change& change, Hashed& hashed) {
        if (!change.value_hash) return nullptr;
        const auto leaf = std::make_shared<Node>();
        leaf->path = change.path;
        leaf->value_hash = *change.value_hash;
        leaf->hash = leaf_hash(leaf->path, leaf->value_hash);
        ++hashed.records;
        return leaf;
    }

    /// The node in whose place all changes below it were carried out; their paths ascend, differ, and are
    /// alike above `depth`.
    static Root changed(const Root& at, std::size_t depth, Changes changes, Hashed& hashed) {
        if (changes.empty()) return at;
        const bool alone = !at || (at->is_leaf() && at->path == changes.front().path);
        if (changes.size() == 1 && alone) return leaf_of(changes.front(), hashed);
        Root left, right;
        if (at && at->is_leaf()) {
            (goes_right(at->path, depth) ? right : left) = at;
        } else if (at) {
            left = at->left;
            right = at->right;
        }
        const auto middle = std::partition_point(changes.begin(), changes.end(),
                                                 [&](const Change& c) { return !goes_right(c.path, depth); });
        left = changed(left, depth + 1, Changes(changes.begin(), middle), hashed);
        right = changed(right, depth + 1, Changes(middle, changes.end()), hashed);
        return joined(std::move(left), std::move(right), hashed);
    }

    /// Nothing of two that are nothing, the only one where that is a leaf, else a node above them.
    static Root joined(Root left, Root right, Hashed& hashed) {
        if (!left && (!right || right->is_leaf())) return right;
        if (!right && left->is_leaf()) return left;
        const auto node = std::make_shared<Node>();
        node->hash = node_hash(hash_of(left), hash_of(right));
        node->left = std::move(left);
        node->right = std::move(right);
        ++hashed.nodes;
        return node;
    }
};

void StateTree::apply(std::vector<Change> changes) {
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.path < b.path; });
    root_ = Node::changed(root_, 0, changes, hashed_);
}

StateTree StateTree::build(const std::map<Bytes, Bytes>& values) {
    std::vector<Change> changes;
    changes.reserve(values.size());
    for (const auto& [key, value] : values) changes.push_back({path_of(key), value_hash_of(value)});
    StateTree tree;
    tree.apply(std::move(changes));
    return tree;
}

void StateTree::put(ByteView key, ByteView value) { apply({Change{path_of(key), value_hash_of(value)}}); }

void StateTree::erase(ByteView key) { apply({Change{path_of(key), std::nullopt}}); }

StateTree::Undo StateTree::update(const std::map<Bytes, std::optional<Bytes>>& changes) {
    Undo undo(root_);
    std::vector<Change> hashes;
    hashes.reserve(changes.size());
    for (const auto& [key, value] : changes) {
        hashes.push_back({path_of(key), std::nullopt});
        if (value) hashes.back().value_hash = value_hash_of(*value);
    }
    apply(std::move(hashes));
    return undo;
}

void StateTree::revert(const Undo& undo) { root_ = undo.root_; }

Hash256 StateTree::root() const { return Node::hash_of(root_); }

StateProof StateTree::prove(ByteView key) const {
    const Hash256 path = path_of(key);
    StateProof proof;
    const Node* at = root_.get();
    for (std::size_t depth = 0; at != nullptr && !at->is_leaf(); ++depth) {
        const bool right = goes_right(path, depth);
        proof.siblings.push_back(Node::hash_of(right ? at->left : at->right));
        at = (right ? at->right : at->left).get();
    }
    if (at != nullptr && at->path != path) proof.other = StateProof::Leaf{at->path, at->value_hash};
    return proof;
}

bool verify_present(const Hash256& root, ByteView key, ByteView value, const StateProof& proof) {
    if (proof.other || proof.siblings.size() > kDepth) return false;
    const Hash256 path = path_of(key);
    return climb(path, leaf_hash(path, value_hash_of(value)), proof.siblings) == root;
}

bool verify_absent(const Hash256& root, ByteView key, const StateProof& proof) {
    if (proof.siblings.size() > kDepth) return false;
    const Hash256 path = path_of(key);
    Hash256 below;
    if (proof.other) {
        // The other leaf must stand on this key's way: same path down to its depth, and another key.
        if (proof.other->path == path) return false;
        for (std::size_t depth = 0; depth < proof.siblings.size(); ++depth) {
            if (goes_right(proof.other->path, depth) != goes_right(path, depth)) return false;
        }
        below = leaf_hash(proof.other->path, proof.other->value_hash);
    }
    return climb(path, below, proof.siblings) == root;
}

}  // namespace assay::ledger
