// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/state_root.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/check.hpp"
#include "contracts/base/codec.hpp"
#include "contracts/base/merkle.hpp"
#include "contracts/program/tile_hashes.hpp"

namespace assay::program {

namespace {
using arithmetic::kTile;
using arithmetic::tile_count;

constexpr std::size_t kLeavesAtATime = 32;

static_assert(std::endian::native == std::endian::little, "tiles are copied as they lie in memory");

// The tile whose first element is (top, left), filled up with zeros, into its leaf.
template <class T>
void put_tile(std::uint64_t rows, std::uint64_t cols, std::span<const T> values, std::uint64_t top,
              std::uint64_t left, std::uint8_t* out) {
    const std::uint64_t height = std::min(kTile, rows - top);
    const std::uint64_t width = std::min(kTile, cols - left);
    if (height < kTile || width < kTile) std::fill_n(out, kTile * kTile * sizeof(T), std::uint8_t{0});
    for (std::uint64_t i = 0; i < height; ++i) {
        std::memcpy(out + i * kTile * sizeof(T), values.data() + (top + i) * cols + left, width * sizeof(T));
    }
}

// The kind of a tile is its elements'.
template <class T>
constexpr base::Personal kTileOf =
    std::is_same_v<T, float> ? base::personal::kTile : base::personal::kUpdateTile;

template <class T>
void hash_tiles(std::uint64_t rows, std::uint64_t cols, std::span<const T> values, base::BatchHash hash,
                std::span<Hash256> leaves) {
    ASSAY_CHECK(values.size() == rows * cols && leaves.size() == tile_count(rows, cols));
    constexpr std::size_t kLeafBytes = kTile * kTile * sizeof(T);
    std::vector<std::uint8_t> messages(std::min(kLeavesAtATime, leaves.size()) * kLeafBytes);
    std::size_t done = 0, waiting = 0;
    const auto flush = [&] {
        hash({messages.data(), kLeafBytes, kLeafBytes, waiting, kTileOf<T>}, leaves.data() + done);
        done += waiting;
        waiting = 0;
    };
    for (std::uint64_t top = 0; top < rows; top += kTile) {
        for (std::uint64_t left = 0; left < cols; left += kTile) {
            put_tile(rows, cols, values, top, left, messages.data() + waiting * kLeafBytes);
            if (++waiting == kLeavesAtATime) flush();
        }
    }
    flush();
}

template <class T>
Hash256 matrix_root(std::uint64_t rows, std::uint64_t cols, std::span<const T> values, base::BatchHash hash) {
    std::vector<Hash256> leaves(tile_count(rows, cols));
    hash_tiles(rows, cols, values, hash, std::span(leaves));
    return base::merkle_root(leaves, hash);
}

}  // namespace

void tile_hashes(std::uint64_t rows, std::uint64_t cols, std::span<const float> values, base::BatchHash hash,
                 std::span<Hash256> out) {
    hash_tiles(rows, cols, values, hash, out);
}

Hash256 tensor_leaf(const TensorInfo& tensor, const Hash256& root) {
    base::Encoder encoder;
    encoder(tensor.name, tensor.rows, tensor.cols, root);
    return base::merkle_leaf(base::personal::kTensor, std::move(encoder).take());
}

namespace {
template <class T>
Hash256 root_of_array(const std::vector<TensorInfo>& tensors, std::span<const T> values,
                      base::BatchHash hash) {
    std::vector<Hash256> leaves;
    leaves.reserve(tensors.size());
    std::uint64_t end = 0;
    for (const TensorInfo& tensor : tensors) {
        ASSAY_CHECK(tensor.offset == end && tensor.offset + tensor.size() <= values.size());
        end += tensor.size();
        const Hash256 root =
            matrix_root<T>(tensor.rows, tensor.cols, values.subspan(tensor.offset, tensor.size()), hash);
        leaves.push_back(tensor_leaf(tensor, root));
    }
    ASSAY_CHECK(end == values.size());
    return base::merkle_root(leaves);
}
}  // namespace

Hash256 tensor_root(std::uint64_t rows, std::uint64_t cols, std::span<const float> values) {
    return matrix_root(rows, cols, values, base::hash_one_by_one);
}

Hash256 tensor_root(std::uint64_t rows, std::uint64_t cols, std::span<const std::int64_t> values) {
    return matrix_root(rows, cols, values, base::hash_one_by_one);
}

Hash256 array_root(const std::vector<TensorInfo>& tensors, std::span<const float> values,
                   base::BatchHash hash) {
    return root_of_array(tensors, values, hash);
}

Hash256 update_root(const std::vector<TensorInfo>& tensors, std::span<const std::int64_t> update,
                    base::BatchHash hash) {
    return root_of_array(tensors, update, hash);
}

namespace {
template <class... Content>
Hash256 component_leaf(StateComponent place, const Content&... content) {
    base::Encoder encoder;
    encoder(static_cast<std::uint8_t>(place), content...);
    return base::merkle_leaf(base::personal::kComponent, std::move(encoder).take());
}
}  // namespace

std::array<Hash256, kStateComponents> component_leaves(const StateRoots& roots) {
    using enum StateComponent;
    return {component_leaf(kParameters, roots.parameters),
            component_leaf(kFirstMoment, roots.first_moment),
            component_leaf(kSecondMoment, roots.second_moment),
            component_leaf(kSteps, roots.step_count, roots.moment_age.value_or(roots.step_count)),
            component_leaf(kResidual, roots.residual),
            component_leaf(kOuter, roots.outer),
            component_leaf(kDataCursor, roots.data_cursor),
            component_leaf(kGeneratorCounter, roots.generator_counter)};
}

Hash256 state_root(const StateRoots& roots) {
    const auto leaves = component_leaves(roots);
    return base::merkle_root({leaves.begin(), leaves.end()});
}

Hash256 carried_root(const Hash256& first_moment, const Hash256& second_moment, std::uint64_t moment_age) {
    base::Encoder encoder;
    encoder(first_moment, second_moment, moment_age);
    return base::hash("assay/carried", std::move(encoder).take());
}

Hash256 base_state_root(const std::vector<TensorInfo>& tensors, std::span<const float> parameters,
                        std::span<const float> outer_momentum, std::uint64_t step_count,
                        base::BatchHash hash) {
    StateRoots roots;
    roots.parameters = array_root(tensors, parameters, hash);
    roots.outer = array_root(tensors, outer_momentum, hash);
    roots.step_count = step_count;
    return state_root(roots);
}

Hash256 slot_state_root(const std::vector<TensorInfo>& tensors, std::span<const float> parameters,
                        std::span<const float> first_moment, std::span<const float> second_moment,
                        std::uint64_t steps_done, std::uint64_t data_cursor) {
    StateRoots roots;
    roots.parameters = array_root(tensors, parameters);
    roots.first_moment = array_root(tensors, first_moment);
    roots.second_moment = array_root(tensors, second_moment);
    roots.step_count = steps_done;
    roots.data_cursor = data_cursor;
    return state_root(roots);
}

}  // namespace assay::program
