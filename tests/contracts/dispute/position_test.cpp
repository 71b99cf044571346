// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/position.hpp"
#include "contracts/base/merkle.hpp"
#include "contracts/dispute/referee.hpp"
#include "contracts/dispute/tree.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::dispute;

std::vector<Hash256> numbered(std::uint64_t count) {
    std::vector<Hash256> out(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        out[i].bytes[0] = static_cast<std::uint8_t>(i);
        out[i].bytes[1] = static_cast<std::uint8_t>(i >> 8);
        out[i].bytes[2] = static_cast<std::uint8_t>(i >> 16);
    }
    return out;
}
}  // namespace

TEST_CASE("every node of every row folds into the node above it") {
    for (const std::uint64_t leaves : {1UL, 2UL, 3UL, 2'047UL, 2'048UL, 2'049UL, 5'000UL, 70'001UL}) {
        const StoredTree tree(numbered(leaves));
        CHECK(tree.root() == assay::base::merkle_root(numbered(leaves)));
        const TreeRow top = top_row(leaves);
        CHECK(top.nodes <= kMaxMoveHashes);
        const auto nodes = tree.row(top.height);
        CHECK(folds(top, {nodes.begin(), nodes.end()}, tree.root()));
        if (top.height == 0) continue;
        for (std::uint64_t picked = 0; picked < top.nodes; picked += 97) {
            const TreeRow below = row_below(leaves, top, picked);
            CHECK(below.nodes <= kMaxMoveHashes);
            const auto children = tree.row(below.height).subspan(below.first, below.nodes);
            std::vector<Hash256> posted(children.begin(), children.end());
            CHECK(folds(below, posted, nodes[picked]));
            posted.back().bytes[31] ^= 1;
            CHECK_FALSE(folds(below, posted, nodes[picked]));
            posted.pop_back();
            CHECK_FALSE(folds(below, posted, nodes[picked]));
        }
    }
}

TEST_CASE("moves down to a leaf are those of its height") {
    CHECK(moves_of(0) == 0);
    CHECK(moves_of(1) == 0);
    CHECK(moves_of(2) == 1);
    CHECK(moves_of(2'048) == 1);
    CHECK(moves_of(2'049) == 2);
    CHECK(moves_of(2'048 * 2'048) == 2);
    CHECK(moves_of(2'048 * 2'048 + 1) == 3);
}

TEST_CASE("a leaf climbs to the root by its siblings") {
    for (const std::uint64_t leaves : {1UL, 2UL, 5UL, 16UL, 33UL}) {
        const std::vector<Hash256> hashes = numbered(leaves);
        const StoredTree tree(hashes);
        for (std::uint64_t i = 0; i < leaves; ++i) {
            const std::vector<Hash256> siblings = tree.siblings(i);
            CHECK(siblings.size() == sibling_count(i, leaves));
            CHECK(climb(hashes[i], i, leaves, siblings) == tree.root());
        }
    }
}

TEST_CASE("the longest dispute over GPT-2 124M is a few moves") {
    assay::program::JobSpec spec;
    spec.slots = 1;
    spec.rounds = 1;
    spec.model = {.layers = 12, .width = 768, .heads = 12, .context = 1'024, .vocabulary = 50'257};
    spec.train.inner_steps = 64;
    spec.train.batch = 8;
    spec.data.train_tokens = 100'000;
    for (const auto profile : {assay::program::Profile::kF32, assay::program::Profile::kI16}) {
        spec.profile = profile;
        const auto program = assay::program::build_step_program(spec.model, spec.train, profile);
        const StepFacts facts = facts_of(spec, program, {});
        const DisputeCost cost = longest_dispute(facts, 16);
        // Steps, outputs, tiles in two rows, partials in one or, of the norm, in two; the witness.
        CHECK(cost.moves == 6);
        CHECK(cost.bytes <= 600'000);
        CHECK(longest_dispute(facts, 1).moves == 5);
    }
}
