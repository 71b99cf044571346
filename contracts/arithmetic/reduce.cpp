// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/reduce.hpp"

#include <array>
#include <bit>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic {

float fold_lanes(std::span<float, kLanes> lanes) {
    for (std::size_t s = kLanes / 2; s > 0; s /= 2) {
        for (std::size_t j = 0; j < s; ++j) lanes[j] = lanes[j] + lanes[j + s];
    }
    return lanes[0];
}

float lane_sum(std::span<const float> x) {
    std::array<float, kLanes> lanes{};
    for (std::size_t i = 0; i < x.size(); ++i) lanes[i % kLanes] = lanes[i % kLanes] + x[i];
    return fold_lanes(lanes);
}

float lane_dot(std::span<const float> a, std::span<const float> b) {
    ASSAY_CHECK(a.size() == b.size());
    std::array<float, kLanes> lanes{};
    for (std::size_t i = 0; i < a.size(); ++i) lanes[i % kLanes] = fma32(a[i], b[i], lanes[i % kLanes]);
    return fold_lanes(lanes);
}

std::size_t max_index(std::span<const float> x) {
    ASSAY_CHECK(!x.empty());
    std::size_t best = 0;
    for (std::size_t i = 1; i < x.size(); ++i) {
        if (x[best] < x[i]) best = i;
    }
    return best;
}

bool all_finite(std::span<const float> x) {
    constexpr std::uint32_t kExponent = 0x7f800000U;
    for (const float value : x) {
        if ((std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent) return false;
    }
    return true;
}

float tree_sum(std::span<float> leaves) {
    if (leaves.empty()) return 0.0F;
    std::size_t count = leaves.size();
    while (count > 1) {
        const std::size_t pairs = count / 2;
        for (std::size_t i = 0; i < pairs; ++i) leaves[i] = leaves[2 * i] + leaves[2 * i + 1];
        if (count % 2 != 0) leaves[pairs] = leaves[count - 1];
        count = pairs + count % 2;
    }
    return leaves[0];
}

}  // namespace assay::arithmetic
