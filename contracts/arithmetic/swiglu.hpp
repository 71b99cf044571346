// SPDX-License-Identifier: Apache-2.0
// Defines SwiGLU (Shazeer 2020) for reference machine and kernels: a row of 2·hidden numbers, the gates g
// first, then the values u, becomes hidden numbers silu(g) · u. sigmoid and the slope of silu are in
// elementary-inl.hpp.
#pragma once

#include <cstdint>
#include <span>

namespace assay::arithmetic {

/// Per row: y = (g · sigmoid(g)) · u. x has twice the size of y.
void swiglu_forward(std::uint64_t hidden, std::span<const float> x, std::span<float> y);

/// Per row, s = sigmoid(g): dg = (dy · u) · (s · fma(g, 1 − s, 1)); du = dy · (g · s). dx is laid out like x,
/// may be x, and has twice the size of dy.
void swiglu_backward(std::uint64_t hidden, std::span<const float> x, std::span<const float> dy,
                     std::span<float> dx);

}  // namespace assay::arithmetic
