// SPDX-License-Identifier: Apache-2.0
// Sums with a fixed order, maxima with a fixed winner, and the finite check, for operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::arithmetic {

/// Lanes of a row sum: a property of the definition, never of the hardware.
inline constexpr std::size_t kLanes = 32;

/// Row sum. Lane j is the chain x[j] + x[j+32] + … ascending from +0; absent elements add nothing; then
/// for s = 16, 8, 4, 2, 1: lane[j] = lane[j] + lane[j+s] for j < s; the sum is lane[0]. Empty gives +0.
float lane_sum(std::span<const float> x);

/// As lane_sum, each lane being the chain lane = fma(a[i], b[i], lane). REQUIRES equal sizes.
float lane_dot(std::span<const float> a, std::span<const float> b);

/// Only the tree over the lanes. Overwrites them.
float fold_lanes(std::span<float, kLanes> lanes);

/// Index of the largest element, the lowest index among equals (−0 = +0). REQUIRES x not empty, no NaN.
std::size_t max_index(std::span<const float> x);

/// True when no element is an infinity or a NaN.
bool all_finite(std::span<const float> x);

/// Sum over `leaves` by the fixed binary tree: neighbours are added pair by pair, an odd last one goes up
/// unchanged, until one is left. Overwrites `leaves`. Empty gives +0.
float tree_sum(std::span<float> leaves);

}  // namespace assay::arithmetic
