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
// that is a leaf.
struct StateTree::Node {
    using Changes = std::span<const Change>;

    Hash256 hash;
    Hash256 path, value_hash;  // leaves only
    std::unique_ptr<Node> left, right;

    [[nodiscard]] bool is_leaf() const { return !left && !right; }
    std::unique_ptr<Node>& child(bool right_one) { return right_one ? right : left; }
    static Hash256 hash_of(const std::unique_ptr<Node>& node) { return node ? node->hash : Hash256{}; }

    static void set_leaf(std::unique_ptr<Node>& at, const Change& change, Hashed& hashed) {
        if (!change.value_hash) return at.reset();
        at = std::make_unique<Node>();
        at->path = change.path;
        at->value_hash = *change.value_hash;
        at->hash = leaf_hash(at->path, at->value_hash);
        ++hashed.records;
    }

    /// Carries out all changes below one node; their paths ascend, differ, and are alike above `depth`.
    static void apply(std::unique_ptr<Node>& at, std::size_t depth, Changes changes, Hashed& hashed) {
        if (changes.empty()) return;
        const bool alone = !at || (at->is_leaf() && at->path == changes.front().path);
        if (changes.size() == 1 && alone) return set_leaf(at, changes.front(), hashed);
        if (!at || at->is_leaf()) {
            std::unique_ptr<Node> leaf = std::exchange(at, std::make_unique<Node>());
            if (leaf) at->child(goes_right(leaf->path, depth)) = std::move(leaf);
        }
        const auto middle = std::partition_point(changes.begin(), changes.end(),
                                                 [&](const Change& c) { return !goes_right(c.path, depth); });
        apply(at->left, depth + 1, Changes(changes.begin(), middle), hashed);
        apply(at->right, depth + 1, Changes(middle, changes.end()), hashed);
        settle(at, hashed);
    }

    /// After its children changed: gone without any, its only child where that is a leaf, else hashed anew.
    static void settle(std::unique_ptr<Node>& at, Hashed& hashed) {
        if (at->is_leaf()) return at.reset();
        std::unique_ptr<Node>& only = at->left ? at->left : at->right;
        if (!(at->left && at->right) && only->is_leaf()) {
            std::unique_ptr<Node> lifted = std::move(only);
            at = std::move(lifted);
            return;
        }
        at->hash = node_hash(hash_of(at->left), hash_of(at->right));
        ++hashed.nodes;
    }
};

StateTree::StateTree() = default;
StateTree::~StateTree() = default;
StateTree::StateTree(StateTree&&) noexcept = default;
StateTree& StateTree::operator=(StateTree&&) noexcept = default;

void StateTree::apply(std::vector<Change> changes) {
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.path < b.path; });
    Node::apply(root_, 0, changes, hashed_);
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

StateTree::Undo StateTree::update(const std::map<Bytes, std::optional<Bytes>>& changes,
                                  const contracts::StateView& before) {
    Undo undo;
    for (const auto& [key, value] : changes) undo.emplace(key, before.get(key));
    revert(changes);
    return undo;
}

// Taking back and applying are one thing: set each key to the value given for it.
void StateTree::revert(const Undo& undo) {
    std::vector<Change> changes;
    changes.reserve(undo.size());
    for (const auto& [key, value] : undo) {
        changes.push_back({path_of(key), std::nullopt});
        if (value) changes.back().value_hash = value_hash_of(*value);
    }
    apply(std::move(changes));
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
