// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/first_state.hpp"

#include <bit>
#include <map>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/merkle.hpp"
#include "contracts/program/recent.hpp"
#include "contracts/program/round_law.hpp"

namespace assay::program {

namespace {

constexpr auto kParametersPlace = static_cast<std::size_t>(StateComponent::kParameters);

/// Root of a tree over equal leaves. A left half is whole, so that few sizes occur.
Hash256 equal_leaves_root(std::uint64_t leaves, const Hash256& leaf,
                          std::map<std::uint64_t, Hash256>& known) {
    if (leaves == 1) return leaf;
    const auto found = known.find(leaves);
    if (found != known.end()) return found->second;
    const std::uint64_t left = std::bit_floor(leaves - 1);
    const Hash256 root = base::merkle_node(equal_leaves_root(left, leaf, known),
                                           equal_leaves_root(leaves - left, leaf, known));
    known.emplace(leaves, root);
    return root;
}

// The roots of moments that are zero, of so many models.
constexpr std::size_t kZeroRoots = 64;

}  // namespace

Hash256 zero_array_root(const std::vector<TensorInfo>& tensors) {
    const std::vector<float> zeros(arithmetic::kTile * arithmetic::kTile, 0.0F);
    const Hash256 tile = tensor_root(arithmetic::kTile, arithmetic::kTile, std::span<const float>(zeros));
    std::map<std::uint64_t, Hash256> known;
    std::vector<Hash256> leaves;
    for (const TensorInfo& tensor : tensors) {
        const std::uint64_t tiles = arithmetic::tile_count(tensor.rows, tensor.cols);
        leaves.push_back(tensor_leaf(tensor, equal_leaves_root(tiles, tile, known)));
    }
    return base::merkle_root(leaves);
}

FirstStateParts first_state_parts(const StateRoots& base, const std::optional<CarriedParts>& carried) {
    const auto leaves = component_leaves(base);
    auto proof = base::merkle_prove({leaves.begin(), leaves.end()}, kParametersPlace);
    return {base.parameters, std::move(proof.siblings), carried};
}

std::optional<Hash256> first_state_root(const JobSpec& spec, const FirstStatePlace& place,
                                        const FirstStateParts& parts) {
    if (parts.carried.has_value() == place.carried.is_zero()) return std::nullopt;
    StateRoots state;
    state.parameters = parts.parameters;
    const Hash256 leaf = component_leaves(state)[kParametersPlace];
    const base::InclusionProof proof{kParametersPlace, kStateComponents, parts.siblings};
    if (!base::merkle_verify(place.base, leaf, proof)) return std::nullopt;
    state.data_cursor = std::uint64_t{place.round} * spec.train.inner_steps;
    if (carries_state(spec)) state.moment_age = 0;
    if (parts.carried) {
        const CarriedParts& carried = *parts.carried;
        if (carried_root(carried.first_moment, carried.second_moment, carried.age) != place.carried)
            return std::nullopt;
        state.first_moment = carried.first_moment;
        state.second_moment = carried.second_moment;
        state.moment_age = carried.age;
    } else {
        thread_local Recent<ModelConfig, Hash256, kZeroRoots> zeros;
        state.first_moment = state.second_moment =
            zeros.get(spec.model, [&] { return zero_array_root(parameter_tensors(spec.model)); });
    }
    return state_root(state);
}

}  // namespace assay::program
