// SPDX-License-Identifier: Apache-2.0
// Binary32 values of the arithmetic's tests: seen as bits, and drawn at random.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

namespace assay::test {

inline std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

/// `count` values, uniform in ±limit.
inline std::vector<float> random_floats(std::mt19937_64& random, std::size_t count, float limit = 1.0F) {
    std::uniform_real_distribution<float> uniform(-limit, limit);
    std::vector<float> out(count);
    for (float& value : out) value = uniform(random);
    return out;
}

}  // namespace assay::test
