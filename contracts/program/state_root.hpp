// SPDX-License-Identifier: Apache-2.0
// The roots of what a job's machines claim: tensors, updates, whole states. For miners, verifiers and
// auditors. All are Merkle roots (merkle.hpp), so that a dispute can open one 16×16 tile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "contracts/base/hash.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::program {

/// Root of a matrix: leaves are its tiles, row by row: elements little-endian, row-major within the tile,
/// absent elements zero, under personal::kTile (binary32) or personal::kUpdateTile (int64).
Hash256 tensor_root(std::uint64_t rows, std::uint64_t cols, std::span<const float> values);
Hash256 tensor_root(std::uint64_t rows, std::uint64_t cols, std::span<const std::int64_t> values);

/// Leaf of a tensor in the root of its array.
Hash256 tensor_leaf(const TensorInfo& tensor, const Hash256& root);

/// Root of a flat array that consists of `tensors`: per tensor, in order, the leaf (personal::kTensor) of
/// name ‖ rows ‖ cols ‖ tensor root in the canonical encoding (string with u32 length; u64; u64; 32 bytes).
/// REQUIRES values.size() to be the sum of the tensors' sizes. `hash` computes the hashes of tiles and of the
/// tree.
Hash256 array_root(const std::vector<TensorInfo>& tensors, std::span<const float> values,
                   base::BatchHash hash = base::hash_one_by_one);

/// As array_root over an update, with personal::kUpdateTile.
Hash256 update_root(const std::vector<TensorInfo>& tensors, std::span<const std::int64_t> update,
                    base::BatchHash hash = base::hash_one_by_one);

/// The components of a state, in the order of their leaves. An absent root is zero. The base state of a round
/// has parameters and outer; step_count = round·inner_steps, where `round` is the round after the merge that
/// made the state. A slot state inside a round has parameters and moments; step_count = inner steps done in
/// this round; data_cursor = round·inner_steps + step_count.
struct StateRoots {
    Hash256 parameters;
    Hash256 first_moment;
    Hash256 second_moment;
    std::uint64_t step_count = 0;
    Hash256 residual;
    Hash256 outer;
    std::uint64_t data_cursor = 0;
    std::uint64_t generator_counter = 0;
    /// The number of AdamW steps of the moments, in jobs whose moments outlive a round. In other jobs it is
    /// step_count, in the component too.
    std::optional<std::uint64_t> moment_age;

    friend bool operator==(const StateRoots&, const StateRoots&) = default;
};

/// The place of a component in a state: the place of its leaf in the tree, and the first byte of what the
/// leaf hashes.
enum class StateComponent : std::uint8_t {
    kParameters = 0,
    kFirstMoment = 1,
    kSecondMoment = 2,
    kSteps = 3,  ///< step count and age of the moments, u64 each, in every job
    kResidual = 4,
    kOuter = 5,
    kDataCursor = 6,        ///< u64
    kGeneratorCounter = 7,  ///< u64
};
inline constexpr std::size_t kStateComponents = 8;

/// Leaves (personal::kComponent) of a state's components: u8 place ‖ root, or numbers little-endian.
std::array<Hash256, kStateComponents> component_leaves(const StateRoots& roots);

/// Merkle root over component_leaves. There are always eight, so that each opens with three siblings.
Hash256 state_root(const StateRoots& roots);

/// Root of what a slot carries from one round to the next: H("assay/carried", root of the first moment ‖ root
/// of the second ‖ u64 age).
Hash256 carried_root(const Hash256& first_moment, const Hash256& second_moment, std::uint64_t moment_age);

/// Root of the base state of a round.
Hash256 base_state_root(const std::vector<TensorInfo>& tensors, std::span<const float> parameters,
                        std::span<const float> outer_momentum, std::uint64_t step_count,
                        base::BatchHash hash = base::hash_one_by_one);

/// Root of a slot's state after `steps_done` inner steps of a round; the moments are zero arrays at 0.
Hash256 slot_state_root(const std::vector<TensorInfo>& tensors, std::span<const float> parameters,
                        std::span<const float> first_moment, std::span<const float> second_moment,
                        std::uint64_t steps_done, std::uint64_t data_cursor);

}  // namespace assay::program
