// SPDX-License-Identifier: Apache-2.0
// Defines the element-wise operators for reference machine and kernels: GELU in its tanh form (Hendrycks &
// Gimpel 2016, "gelu_new") and the residual add.
#pragma once

#include <span>

#include "contracts/arithmetic/elementary.hpp"

namespace assay::arithmetic {

inline constexpr float kGeluCubic = 0.044715F;
inline constexpr float kGeluScale = 0.7978845608028654F;        ///< sqrt(2/pi)
inline constexpr float kGeluSlopeCubic = 0.10703222440890037F;  ///< 3 · 0.044715 · sqrt(2/pi)

/// x2 = x·x; t = tanh((x · kGeluScale) · fma(x2, kGeluCubic, 1)); h = 0.5·x; y = fma(h, t, h).
void gelu_forward(std::span<const float> x, std::span<float> y);

/// t as above, x2 = x·x; s = fma(−t, t, 1); q = fma(x2, kGeluSlopeCubic, kGeluScale);
/// a = fma(0.5, t, 0.5); dx = dy · fma((0.5·x) · s, q, a).
void gelu_backward(std::span<const float> x, std::span<const float> dy, std::span<float> dx);

/// y = a + b. `y` may be `a` or `b`. Also the sum of two gradients that meet at a residual branch.
void add(std::span<const float> a, std::span<const float> b, std::span<float> y);

}  // namespace assay::arithmetic
