// SPDX-License-Identifier: Apache-2.0
// Defines, for reference machine and kernels, the end of a step: global norm, clipping, AdamW (Loshchilov
// & Hutter 2019).
#pragma once

#include <cstdint>
#include <span>

namespace assay::arithmetic {

/// Side of the square tiles in which a matrix is normed and hashed.
inline constexpr std::uint64_t kTile = 16;

/// Tiles of a matrix: ceil(rows/16) · ceil(cols/16).
constexpr std::uint64_t tile_count(std::uint64_t rows, std::uint64_t cols) {
    return ((rows + kTile - 1) / kTile) * ((cols + kTile - 1) / kTile);
}

/// sums[i] = chain of fma(g, g, ·) from +0 over the elements of tile i in row order; tiles row by row; a tile
/// at the border has only the elements that exist. REQUIRES sums.size() == tile_count(rows, cols).
void square_tiles(std::uint64_t rows, std::uint64_t cols, std::span<const float> g, std::span<float> sums);

/// Norm = sqrt(tree_sum of the tile sums of all tensors in canonical order). Overwrites `sums`.
float norm_of_tiles(std::span<float> sums);

/// min(1, limit / (norm + 1e-6)).
float clip_scale(float norm, float limit);

/// Numbers of one AdamW step; from the schedule (contracts/program/schedule.hpp), each rounded once.
struct AdamWCoefficients {
    float learning_rate = 0;
    float decay = 0;  ///< learning_rate · weight_decay for a tensor that decays, else 0
    float beta1 = 0;
    float one_minus_beta1 = 0;
    float beta2 = 0;
    float one_minus_beta2 = 0;
    float correction1 = 0;  ///< 1 / (1 − beta1^t)
    float correction2 = 0;  ///< 1 / (1 − beta2^t)
    float epsilon = 0;
};

/// Per element, in place, in this order:
///   h = g · clip
///   m = fma(beta1, m, one_minus_beta1 · h)
///   v = fma(beta2, v, (one_minus_beta2 · h) · h)
///   u = (m · correction1) / (sqrt(v · correction2) + epsilon)
///   w = fma(−decay, w, w)
///   w = fma(−learning_rate, u, w)
void adamw(const AdamWCoefficients& c, float clip, std::span<const float> g, std::span<float> w,
           std::span<float> m, std::span<float> v);

}  // namespace assay::arithmetic
