// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/start_referee.hpp"

#include <bit>
#include <map>

#include "contracts/base/check.hpp"

namespace assay::dispute {

namespace {

constexpr std::size_t kHash = sizeof(Hash256::bytes);
constexpr auto kParameters = static_cast<std::uint32_t>(program::StateComponent::kParameters);

/// Root of a tree over equal leaves. A left half is whole, so that few sizes occur.
Hash256 equal_leaves_root(std::uint64_t leaves, const Hash256& leaf,
                          std::map<std::uint64_t, Hash256>& known) {
    if (leaves == 1) return leaf;
    const auto found = known.find(leaves);
    if (found != known.end()) return found->second;
    const std::uint64_t left = std::bit_floor(leaves - 1);
    const std::vector<Hash256> halves = {equal_leaves_root(left, leaf, known),
                                         equal_leaves_root(leaves - left, leaf, known)};
    return known[leaves] = base::merkle_root(halves);
}

}  // namespace

Hash256 zero_array_root(const std::vector<program::TensorInfo>& tensors) {
    const Hash256 tile =
        tile_hash(Cells::of({CellKind::kReal, arithmetic::kTile * arithmetic::kTile}), arithmetic::kTile);
    std::map<std::uint64_t, Hash256> known;
    std::vector<Hash256> leaves;
    for (const program::TensorInfo& tensor : tensors) {
        const std::uint64_t tiles = arithmetic::tile_count(tensor.rows, tensor.cols);
        leaves.push_back(program::tensor_leaf(tensor, equal_leaves_root(tiles, tile, known)));
    }
    return base::merkle_root(leaves);
}

GameVerdict judge_start(const StartFacts& facts, const Hash256& start, base::ByteView witness) {
    const std::size_t siblings = sibling_count(kParameters, program::kStateComponents);
    const bool carries = !facts.carried.is_zero();
    const std::size_t wanted = (1 + siblings + (carries ? 2 : 0)) * kHash;
    if (witness.size() < wanted) return {.reason = GameReason::kWitnessEnds};
    if (witness.size() > wanted) return {.reason = GameReason::kWitnessTrails};
    std::vector<Hash256> hashes;
    for (std::size_t i = 0; i < wanted; i += kHash)
        hashes.push_back(base::hash_from(witness.subspan(i, kHash)));
    const Hash256 root = climb(component_leaf(kParameters, hashes[0]), kParameters, program::kStateComponents,
                               std::span(hashes).subspan(1, siblings));
    if (root != facts.base) return {.reason = GameReason::kNotOpened};
    program::StateRoots state = facts.known;
    state.parameters = hashes[0];
    if (carries) {
        state.first_moment = hashes[1 + siblings];
        state.second_moment = hashes[2 + siblings];
        const std::uint64_t age = state.moment_age.value_or(0);
        if (program::carried_root(state.first_moment, state.second_moment, age) != facts.carried)
            return {.reason = GameReason::kNotOpened};
    } else {
        state.first_moment = state.second_moment = zero_array_root(*facts.tensors);
    }
    if (program::state_root(state) != start) return {.reason = GameReason::kNotOpened};
    return {.outcome = GameOutcome::kClaimantWins, .reason = GameReason::kAgrees};
}

base::Bytes start_witness(const program::StateRoots& base, const program::StateRoots& start, bool carries) {
    const auto leaves = program::component_leaves(base);
    const StoredTree tree({leaves.begin(), leaves.end()});
    base::Bytes out;
    const auto put = [&](const Hash256& hash) {
        out.insert(out.end(), hash.bytes.begin(), hash.bytes.end());
    };
    put(start.parameters);
    for (const Hash256& one : tree.siblings(kParameters)) put(one);
    if (carries) {
        put(start.first_moment);
        put(start.second_moment);
    }
    return out;
}

}  // namespace assay::dispute
