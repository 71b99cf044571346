// SPDX-License-Identifier: Apache-2.0
#include "ledger/state_tree.hpp"

#include <algorithm>

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

// A leaf has a value hash and no children; an inner node has at least one child, and never exactly one child
// that is a leaf.
struct StateTree::Node {
    Hash256 hash;
    Hash256 path, value_hash;  // leaves only
    std::unique_ptr<Node> left, right;

    [[nodiscard]] bool is_leaf() const { return !left && !right; }
    std::unique_ptr<Node>& child(bool right_one) { return right_one ? right : left; }
    static Hash256 hash_of(const std::unique_ptr<Node>& node) { return node ? node->hash : Hash256{}; }
    void rehash() { hash = node_hash(hash_of(left), hash_of(right)); }

    static std::unique_ptr<Node> leaf(const Hash256& path, const Hash256& value_hash) {
        auto node = std::make_unique<Node>();
        node->path = path;
        node->value_hash = value_hash;
        node->hash = leaf_hash(path, value_hash);
        return node;
    }

    static void put(std::unique_ptr<Node>& at, std::size_t depth, const Hash256& path, const Hash256& value) {
        if (!at || (at->is_leaf() && at->path == path)) {
            at = leaf(path, value);
            return;
        }
        if (at->is_leaf()) {
            auto inner = std::make_unique<Node>();
            const bool side = goes_right(at->path, depth);
            inner->child(side) = std::move(at);
            at = std::move(inner);
        }
        put(at->child(goes_right(path, depth)), depth + 1, path, value);
        at->rehash();
    }

    static void erase(std::unique_ptr<Node>& at, std::size_t depth, const Hash256& path) {
        if (!at) return;
        if (at->is_leaf()) {
            if (at->path == path) at.reset();
            return;
        }
        erase(at->child(goes_right(path, depth)), depth + 1, path);
        std::unique_ptr<Node>& only = at->left ? at->left : at->right;
        if (!(at->left && at->right) && only->is_leaf()) {
            std::unique_ptr<Node> lifted = std::move(only);
            at = std::move(lifted);
        } else {
            at->rehash();
        }
    }
};

StateTree::StateTree() = default;
StateTree::~StateTree() = default;
StateTree::StateTree(StateTree&&) noexcept = default;
StateTree& StateTree::operator=(StateTree&&) noexcept = default;

StateTree StateTree::build(const std::map<Bytes, Bytes>& values) {
    StateTree tree;
    for (const auto& [key, value] : values) tree.put(key, value);
    return tree;
}

void StateTree::put(ByteView key, ByteView value) { Node::put(root_, 0, path_of(key), value_hash_of(value)); }

void StateTree::erase(ByteView key) { Node::erase(root_, 0, path_of(key)); }

StateTree::Undo StateTree::update(const std::map<Bytes, std::optional<Bytes>>& changes,
                                  const contracts::StateView& before) {
    Undo undo;
    for (const auto& [key, value] : changes) undo.emplace(key, before.get(key));
    revert(changes);
    return undo;
}

// Taking back and applying are one thing: set each key to the value given for it.
void StateTree::revert(const Undo& undo) {
    for (const auto& [key, value] : undo) {
        if (value) {
            put(key, *value);
        } else {
            erase(key);
        }
    }
}

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
