// SPDX-License-Identifier: Apache-2.0
// Defines, for reference machine and kernels, LayerNorm over rows of n = gain.size() columns (Ba et al.
// 2016), epsilon 1e-5.
#pragma once

#include <span>

namespace assay::arithmetic {

inline constexpr float kLayerNormEpsilon = 1e-5F;

/// What the backward pass needs of the forward pass, one value per row.
struct LayerNormRows {
    std::span<float> mean;
    std::span<float> rstd;
};
struct LayerNormRowsView {
    std::span<const float> mean;
    std::span<const float> rstd;
};

/// Per row, N = float(n): mean = lane_sum(x) / N; d = x − mean; v = lane_dot(d, d) / N;
/// rstd = 1 / sqrt(v + epsilon); y = fma(d · rstd, gain, bias).
void layer_norm_forward(std::span<const float> x, std::span<const float> gain, std::span<const float> bias,
                        std::span<float> y, LayerNormRows rows);

/// Per row: h = (x − mean) · rstd; u = dy · gain; a = lane_sum(u) / N; b = lane_dot(u, h) / N;
/// dx = rstd · fma(−h, b, u − a).
void layer_norm_input_gradient(std::span<const float> dy, std::span<const float> x,
                               std::span<const float> gain, LayerNormRowsView rows, std::span<float> dx);

/// Over the rows of ONE sequence, from +0: g = fma(dy, h, g) and b = b + dy per column; then
/// dgain = dgain + g and dbias = dbias + b. Call once per sequence, in order.
void layer_norm_parameter_gradient_carry(std::span<const float> dy, std::span<const float> x,
                                         LayerNormRowsView rows, std::span<float> dgain,
                                         std::span<float> dbias);

}  // namespace assay::arithmetic
