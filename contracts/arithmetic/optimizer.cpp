// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic {

void square_tiles(std::uint64_t rows, std::uint64_t cols, std::span<const float> g, std::span<float> sums) {
    ASSAY_CHECK(g.size() == rows * cols && sums.size() == tile_count(rows, cols));
    std::size_t tile = 0;
    for (std::uint64_t top = 0; top < rows; top += kTile) {
        for (std::uint64_t left = 0; left < cols; left += kTile) {
            float sum = 0.0F;
            for (std::uint64_t i = top; i < std::min(top + kTile, rows); ++i) {
                for (std::uint64_t j = left; j < std::min(left + kTile, cols); ++j) {
                    sum = fma32(g[i * cols + j], g[i * cols + j], sum);
                }
            }
            sums[tile++] = sum;
        }
    }
}

float norm_of_tiles(std::span<float> sums) { return std::sqrt(tree_sum(sums)); }

float clip_scale(float norm, float limit) {
    const float scale = limit / (norm + 1e-6F);
    return scale < 1.0F ? scale : 1.0F;
}

void adamw(const AdamWCoefficients& c, float clip, std::span<const float> g, std::span<float> w,
           std::span<float> m, std::span<float> v) {
    ASSAY_CHECK(g.size() == w.size() && g.size() == m.size() && g.size() == v.size());
    for (std::size_t i = 0; i < g.size(); ++i) {
        const float h = g[i] * clip;
        m[i] = fma32(c.beta1, m[i], c.one_minus_beta1 * h);
        v[i] = fma32(c.beta2, v[i], (c.one_minus_beta2 * h) * h);
        const float u = (m[i] * c.correction1) / (std::sqrt(v[i] * c.correction2) + c.epsilon);
        w[i] = fma32(-c.decay, w[i], w[i]);
        w[i] = fma32(-c.learning_rate, u, w[i]);
    }
}

}  // namespace assay::arithmetic
