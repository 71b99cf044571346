// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/state_root.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/check.hpp"
#include "contracts/base/codec.hpp"
#include "contracts/base/merkle.hpp"

namespace assay::program {

namespace {
using arithmetic::kTile;
using arithmetic::tile_count;

void put_little_endian(std::uint8_t* out, std::uint64_t bits, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(bits >> (8 * i));
}
void put_element(std::uint8_t* out, float value) {
    put_little_endian(out, std::bit_cast<std::uint32_t>(value), sizeof value);
}
void put_element(std::uint8_t* out, std::int64_t value) {
    put_little_endian(out, static_cast<std::uint64_t>(value), sizeof value);
}

template <class T>
Hash256 matrix_root(LeafKind kind, std::uint64_t rows, std::uint64_t cols, std::span<const T> values) {
    ASSAY_CHECK(values.size() == rows * cols);
    std::vector<Hash256> leaves;
    leaves.reserve(tile_count(rows, cols));
    std::array<std::uint8_t, 1 + kTile * kTile * sizeof(T)> leaf{};
    leaf[0] = static_cast<std::uint8_t>(kind);
    for (std::uint64_t top = 0; top < rows; top += kTile) {
        for (std::uint64_t left = 0; left < cols; left += kTile) {
            const std::uint64_t height = std::min(kTile, rows - top);
            const std::uint64_t width = std::min(kTile, cols - left);
            if (height < kTile || width < kTile) std::fill(leaf.begin() + 1, leaf.end(), std::uint8_t{0});
            for (std::uint64_t i = 0; i < height; ++i) {
                std::uint8_t* out = leaf.data() + 1 + i * kTile * sizeof(T);
                for (std::uint64_t j = 0; j < width; ++j) {
                    put_element(out + j * sizeof(T), values[(top + i) * cols + left + j]);
                }
            }
            leaves.push_back(base::merkle_leaf(leaf));
        }
    }
    return base::merkle_root(leaves);
}

template <class T>
Hash256 root_of_array(LeafKind kind, const std::vector<TensorInfo>& tensors, std::span<const T> values) {
    std::vector<Hash256> leaves;
    leaves.reserve(tensors.size());
    std::uint64_t end = 0;
    for (const TensorInfo& tensor : tensors) {
        ASSAY_CHECK(tensor.offset == end && tensor.offset + tensor.size() <= values.size());
        end += tensor.size();
        const Hash256 root =
            matrix_root<T>(kind, tensor.rows, tensor.cols, values.subspan(tensor.offset, tensor.size()));
        base::Encoder encoder;
        encoder(tensor.name, tensor.rows, tensor.cols, root);
        leaves.push_back(base::merkle_leaf(std::move(encoder).take()));
    }
    ASSAY_CHECK(end == values.size());
    return base::merkle_root(leaves);
}
}  // namespace

Hash256 tensor_root(std::uint64_t rows, std::uint64_t cols, std::span<const float> values) {
    return matrix_root(LeafKind::kTile, rows, cols, values);
}

Hash256 tensor_root(std::uint64_t rows, std::uint64_t cols, std::span<const std::int64_t> values) {
    return matrix_root(LeafKind::kUpdate, rows, cols, values);
}

Hash256 array_root(const std::vector<TensorInfo>& tensors, std::span<const float> values) {
    return root_of_array(LeafKind::kTile, tensors, values);
}

Hash256 update_root(const std::vector<TensorInfo>& tensors, std::span<const std::int64_t> update) {
    return root_of_array(LeafKind::kUpdate, tensors, update);
}

Hash256 state_root(const StateRoots& roots) {
    std::vector<Hash256> leaves;
    const auto add = [&leaves](const auto& component) {
        base::Encoder encoder;
        encoder(static_cast<std::uint8_t>(leaves.size()), component);
        leaves.push_back(base::merkle_leaf(std::move(encoder).take()));
    };
    add(roots.parameters);
    add(roots.first_moment);
    add(roots.second_moment);
    add(roots.step_count);
    add(roots.residual);
    add(roots.outer);
    add(roots.data_cursor);
    add(roots.generator_counter);
    return base::merkle_root(leaves);
}

Hash256 base_state_root(const std::vector<TensorInfo>& tensors, std::span<const float> parameters,
                        std::span<const float> outer_momentum, std::uint64_t step_count) {
    StateRoots roots;
    roots.parameters = array_root(tensors, parameters);
    roots.outer = array_root(tensors, outer_momentum);
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
