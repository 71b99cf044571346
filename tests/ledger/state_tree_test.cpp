// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/state_tree.hpp"

#include <algorithm>
#include <random>

#include "tests/support/properties.hpp"

using namespace assay;
using namespace assay::ledger;

namespace {

Bytes key_of(std::uint64_t n) {
    return {static_cast<std::uint8_t>(n), static_cast<std::uint8_t>(n >> 8U), 7};
}

}  // namespace

TEST_CASE("an empty tree has root zero and proves every key absent") {
    const StateTree tree;
    CHECK(tree.root().is_zero());
    CHECK(verify_absent(tree.root(), key_of(1), tree.prove(key_of(1))));
    CHECK_FALSE(verify_present(tree.root(), key_of(1), key_of(1), tree.prove(key_of(1))));
}

TEST_CASE("a tree of one key has the root that the definition gives") {
    StateTree tree;
    const Bytes key = key_of(1), value = {9, 9};
    tree.put(key, value);
    const Hash256 expected = base::Hasher("assay/state/leaf")
                                 .add(base::hash("assay/state/key", key))
                                 .add(base::hash("assay/state/value", value))
                                 .finish();
    CHECK(tree.root() == expected);
}

TEST_CASE("the root depends on the content only, whatever puts and erases led to it") {
    // A key, and its new value or nothing where it is erased.
    using Step = std::pair<std::uint64_t, rc::Maybe<std::uint64_t>>;
    const auto steps = rc::gen::resize(300, rc::gen::container<std::vector<Step>>(rc::gen::pair(
                                                tests::between<std::uint64_t>(0, 119),
                                                rc::gen::maybe(tests::between<std::uint64_t>(0, 49)))));
    tests::check_property(40, [&] {
        StateTree tree;
        std::map<Bytes, Bytes> content;
        for (const auto& [number, value] : *steps) {
            const Bytes key = key_of(number);
            if (value) {
                tree.put(key, key_of(*value));
                content[key] = key_of(*value);
            } else {
                tree.erase(key);
                content.erase(key);
            }
        }
        RC_ASSERT(tree.root() == StateTree::build(content).root());
        std::vector<std::pair<Bytes, Bytes>> shuffled(content.begin(), content.end());
        std::mt19937_64 random(*tests::any_word());
        std::shuffle(shuffled.begin(), shuffled.end(), random);
        StateTree other;
        for (const auto& [key, value] : shuffled) other.put(key, value);
        RC_ASSERT(other.root() == tree.root());
        for (const auto& [key, value] : content) other.erase(key);
        RC_ASSERT(other.root().is_zero());
    });
}

TEST_CASE("every key is proven present or absent, and no proof stands for anything else") {
    std::mt19937_64 random(7);
    StateTree tree;
    std::map<Bytes, Bytes> content;
    for (std::uint64_t n = 0; n < 200; n += 2) {
        content[key_of(n)] = key_of(n * n);
        tree.put(key_of(n), key_of(n * n));
    }
    const Hash256 root = tree.root();
    for (std::uint64_t n = 0; n < 200; ++n) {
        const Bytes key = key_of(n), value = key_of(n * n);
        const StateProof proof = tree.prove(key);
        const bool present = content.contains(key);
        REQUIRE(verify_present(root, key, value, proof) == present);
        REQUIRE(verify_absent(root, key, proof) == !present);
        REQUIRE_FALSE(verify_present(root, key, Bytes{1}, proof));
        REQUIRE_FALSE(verify_present(root, key_of(n + 1), value, proof));
        StateProof bent = proof;
        bent.siblings[random() % bent.siblings.size()].bytes[random() % 32] ^= 1U;
        REQUIRE_FALSE(verify_present(root, key, value, bent));
        REQUIRE_FALSE(verify_absent(root, key, bent));
        StateProof shorter = proof;
        shorter.siblings.pop_back();
        REQUIRE_FALSE(verify_present(root, key, value, shorter));
        REQUIRE_FALSE(verify_absent(root, key, shorter));
    }
}

TEST_CASE("a present key cannot be proven absent with another leaf's proof") {
    StateTree tree;
    for (std::uint64_t n = 0; n < 64; ++n) tree.put(key_of(n), key_of(n));
    for (std::uint64_t n = 100; n < 200; ++n) {
        const StateProof proof = tree.prove(key_of(n));
        for (std::uint64_t present = 0; present < 64; ++present)
            REQUIRE_FALSE(verify_absent(tree.root(), key_of(present), proof));
    }
}

TEST_CASE("an update is taken back completely") {
    contracts::MemoryState state;
    for (std::uint64_t n = 0; n < 50; ++n) state.put(key_of(n), key_of(n));
    StateTree tree = StateTree::build(state.all());
    const Hash256 before = tree.root();
    const StateTree::Undo undo = tree.update({{key_of(3), std::nullopt},
                                              {key_of(4), Bytes{1}},
                                              {key_of(99), Bytes{2}},
                                              {key_of(98), std::nullopt}});
    CHECK(tree.root() != before);
    const std::uint64_t hashed = tree.hashed().nodes;
    tree.revert(undo);
    CHECK(tree.root() == before);
    CHECK(tree.hashed().nodes == hashed);
}

TEST_CASE("a copy of a tree stays as it is when the other changes") {
    StateTree tree;
    for (std::uint64_t n = 0; n < 50; ++n) tree.put(key_of(n), key_of(n));
    const StateTree copy = tree;
    const Hash256 before = tree.root();
    for (std::uint64_t n = 25; n < 75; ++n) tree.put(key_of(n), key_of(n + 1));
    for (std::uint64_t n = 0; n < 10; ++n) tree.erase(key_of(n));
    CHECK(tree.root() != before);
    CHECK(copy.root() == before);
    for (std::uint64_t n = 0; n < 50; ++n)
        CHECK(verify_present(before, key_of(n), key_of(n), copy.prove(key_of(n))));
}
