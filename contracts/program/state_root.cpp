// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/state_root.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/check.hpp"
#include "contracts/base/codec.hpp"
#include "contracts/base/merkle.hpp"

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

template <class T>
Hash256 matrix_root(LeafKind kind, std::uint64_t rows, std::uint64_t cols, std::span<const T> values,
                    base::BatchHash hash) {
    ASSAY_CHECK(values.size() == rows * cols);
    constexpr std::size_t kPrefix = 2;
    constexpr std::size_t kLeafBytes = kPrefix + kTile * kTile * sizeof(T);
    std::vector<Hash256> leaves(tile_count(rows, cols));
    std::vector<std::uint8_t> messages(std::min(kLeavesAtATime, leaves.size()) * kLeafBytes);
    std::size_t done = 0, waiting = 0;
    const auto flush = [&] {
        hash({messages.data(), kLeafBytes, kLeafBytes, waiting}, leaves.data() + done);
        done += waiting;
        waiting = 0;
    };
    for (std::uint64_t top = 0; top < rows; top += kTile) {
        for (std::uint64_t left = 0; left < cols; left += kTile) {
            std::uint8_t* leaf = messages.data() + waiting * kLeafBytes;
            leaf[0] = base::kMerkleLeafPrefix;
            leaf[1] = static_cast<std::uint8_t>(kind);
            put_tile(rows, cols, values, top, left, leaf + kPrefix);
            if (++waiting == kLeavesAtATime) flush();
        }
    }
    flush();
    return base::merkle_root(leaves, hash);
}

template <class T>
Hash256 root_of_array(LeafKind kind, const std::vector<TensorInfo>& tensors, std::span<const T> values,
                      base::BatchHash hash) {
    std::vector<Hash256> leaves;
    leaves.reserve(tensors.size());
    std::uint64_t end = 0;
    for (const TensorInfo& tensor : tensors) {
        ASSAY_CHECK(tensor.offset == end && tensor.offset + tensor.size() <= values.size());
        end += tensor.size();
        const Hash256 root = matrix_root<T>(kind, tensor.rows, tensor.cols,
                                            values.subspan(tensor.offset, tensor.size()), hash);
        base::Encoder encoder;
        encoder(tensor.name, tensor.rows, tensor.cols, root);
        leaves.push_back(base::merkle_leaf(std::move(encoder).take()));
    }
    ASSAY_CHECK(end == values.size());
    return base::merkle_root(leaves);
}
}  // namespace

Hash256 tensor_root(std::uint64_t rows, std::uint64_t cols, std::span<const float> values) {
    return matrix_root(LeafKind::kTile, rows, cols, values, base::hash_one_by_one);
}

Hash256 tensor_root(std::uint64_t rows, std::uint64_t cols, std::span<const std::int64_t> values) {
    return matrix_root(LeafKind::kUpdate, rows, cols, values, base::hash_one_by_one);
}

Hash256 array_root(const std::vector<TensorInfo>& tensors, std::span<const float> values,
                   base::BatchHash hash) {
    return root_of_array(LeafKind::kTile, tensors, values, hash);
}

Hash256 update_root(const std::vector<TensorInfo>& tensors, std::span<const std::int64_t> update,
                    base::BatchHash hash) {
    return root_of_array(LeafKind::kUpdate, tensors, update, hash);
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
    if (roots.moment_age) add(*roots.moment_age);
    return base::merkle_root(leaves);
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
