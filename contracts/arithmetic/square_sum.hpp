// SPDX-License-Identifier: Apache-2.0
// The sum of squares for update_clip, and the clip that follows from the sum. contracts/dispute, which cuts
// the sum, uses both.
#pragma once

#include <cstdint>

#include "contracts/base/wide.hpp"

namespace assay::arithmetic {

/// A sum of squares of whole numbers, high · 2^128 + low.
struct SquareSum {
    std::uint64_t high = 0;
    base::Uint128 low = 0;
    /// Adds number². REQUIRES |number| < 2^62, and fewer than 2^40 numbers in all.
    void add(std::int64_t number);
};
/// update_clip of an update whose squares have this sum. REQUIRES sum < 2^164.
std::uint32_t clip_of(int sum_exponent, float bound, const SquareSum& sum);

}  // namespace assay::arithmetic
