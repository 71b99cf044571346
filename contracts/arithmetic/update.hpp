// SPDX-License-Identifier: Apache-2.0
// What is exchanged between machines, for strategies: a slot's update as integers, the exact merge of
// updates, and the outer optimizer (DiLoCo, Douillard et al. 2023: Nesterov momentum over averaged updates).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contracts/arithmetic/update_clip.hpp"
#include "contracts/base/wide.hpp"

namespace assay::arithmetic {

/// update[i] = (start[i] − end[i]) / 2^sum_exponent rounded to nearest even; the difference and the scaling
/// are binary64 operations. False (a diverged slot; `update` is then unspecified) when some |value| is not
/// below 2^62. REQUIRES −64 <= sum_exponent <= 0.
[[nodiscard]] bool update_finalise(int sum_exponent, std::span<const float> start, std::span<const float> end,
                                   std::span<std::int64_t> update);

struct WeightedUpdate {
    std::span<const std::int64_t> update;
    std::uint64_t weight = 0;         ///< 1 … 2^32
    std::uint32_t clip = kWholeClip;  ///< at most that
};

/// Whether weight and clip are in their ranges; does not look at the numbers.
bool is_in_range(const WeightedUpdate& one);

/// RN32(sum · 2^sum_exponent / total_weight), rounded once. REQUIRES total_weight >= 1,
/// −64 <= sum_exponent <= 0.
float merged_value(base::Int128 sum, std::uint64_t total_weight, int sum_exponent);

/// What each update is multiplied by in a merge, and the divisor: weight · clip and Σ weight · kWholeClip,
/// or, where nothing is clipped, weight and Σ weight.
struct MergeFactors {
    std::vector<base::Int128> factors;
    std::uint64_t total = 0;
};
/// REQUIRES weights and clips in their ranges; does not look at the numbers.
MergeFactors merge_factors(std::span<const WeightedUpdate> updates);

/// g[i] = merged_value(Σ weight·clip·update[i], Σ weight·kWholeClip): exact until the one rounding, so any
/// order of the slots gives the same bits. REQUIRES 1 <= updates.size() <= 1024, sizes equal to g's.
void merge_updates(int sum_exponent, std::span<const WeightedUpdate> updates, std::span<float> g);

/// The same of a cut of the updates: g[i] of their numbers first + i. REQUIRES updates of at least
/// first + g.size() numbers.
void merge_cut(int sum_exponent, std::span<const WeightedUpdate> updates, std::uint64_t first,
               std::span<float> g);

struct OuterCoefficients {
    float learning_rate = 0;
    float momentum = 0;
};

/// Per element, in place, every operation rounded: m = (momentum · m) + g; w = w − lr·(g + (momentum · m)).
void outer_nesterov(OuterCoefficients c, std::span<const float> g, std::span<float> w, std::span<float> m);

}  // namespace assay::arithmetic
