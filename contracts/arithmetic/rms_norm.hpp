// SPDX-License-Identifier: Apache-2.0
// Defines, for reference machine and kernels, RMSNorm over rows of n = gain.size() columns (Zhang &
// Sennrich 2019). Rows are tokens; r = RN(1 / float(n)).
#pragma once

#include <span>

namespace assay::arithmetic {

/// Per row: ms = lane_dot(x, x) · r; rstd = 1 / sqrt(ms + epsilon); y = (x · rstd) · gain.
void rms_norm_forward(float epsilon, std::span<const float> x, std::span<const float> gain,
                      std::span<float> y, std::span<float> rstd);

/// Per row: h = x · rstd; u = dy · gain; c = lane_dot(u, h) · r; dx = (u − h · c) · rstd.
void rms_norm_input_gradient(std::span<const float> dy, std::span<const float> x, std::span<const float> gain,
                             std::span<const float> rstd, std::span<float> dx);

/// Over the rows of ONE sequence, from +0: g = fma(dy, x · rstd, g) per column; then dgain = dgain + g. Call
/// once per sequence, in order.
void rms_norm_parameter_gradient_carry(std::span<const float> dy, std::span<const float> x,
                                       std::span<const float> rstd, std::span<float> dgain);

}  // namespace assay::arithmetic
