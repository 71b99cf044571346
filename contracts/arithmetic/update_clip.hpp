// SPDX-License-Identifier: Apache-2.0
// The factor by which a merge scales down an update beyond a norm bound, for strategies. It uses only
// integers, so that everyone who merges finds the same factor.
#pragma once

#include <cstdint>
#include <span>

namespace assay::arithmetic {

/// A clip is a number of parts in 2^16. This one leaves an update as it is.
inline constexpr std::uint32_t kWholeClip = 1U << 16;

/// The clip of an update of whole numbers at 2^sum_exponent, for a bound on its Euclidean norm:
///   norm = smallest N with N^2 >= sum of squares;  limit = floor(bound / 2^sum_exponent)
///   clip = kWholeClip where norm <= limit, else floor(kWholeClip · limit / norm)
/// so that the scaled update is never longer than the bound; 0 beyond 2^16 times the bound. REQUIRES
/// -64 <= sum_exponent <= 0, a bound above zero that is finite, |numbers| < 2^62, fewer than 2^40 of them.
std::uint32_t update_clip(int sum_exponent, float bound, std::span<const std::int64_t> update);

}  // namespace assay::arithmetic
