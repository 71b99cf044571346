// SPDX-License-Identifier: Apache-2.0
// Plain C++, for processors without any of the instruction sets: pairs are multiplied one by one.
#include "contracts/arithmetic/exact_product.hpp"
#include "trainer/cpu/integer/machines.hpp"

namespace assay::trainer::integer {
namespace plain {

inline constexpr std::size_t kRows = 4;
inline constexpr std::size_t kCols = 8;
inline constexpr bool kHoldsHigh = false;
inline constexpr std::size_t kWideRows = 2;  // at a time, with two sums each
inline constexpr int kWideUnroll = 1;        // pairs of k

#include "trainer/cpu/integer/lanes_plain-inl.hpp"

// Wraps around, as vectors do: sums of numbers that came from a NaN are meaningless, and may not fit.
inline void dot_pairs(I& sum, I a, I b) {
    for (std::size_t i = 0; i < kL; ++i) {
        const std::int32_t low = static_cast<std::int16_t>(a.lane[i]) * static_cast<std::int16_t>(b.lane[i]);
        const std::int32_t high = (a.lane[i] >> 16) * (b.lane[i] >> 16);
        sum.lane[i] = as_signed(as_unsigned(sum.lane[i]) + as_unsigned(low) + as_unsigned(high));
    }
}

// Each builds on those before it.
// clang-format off
#include "trainer/cpu/integer/sums-inl.hpp"
#include "trainer/cpu/integer/tile_vectors-inl.hpp"
#include "trainer/cpu/integer/tile_runs-inl.hpp"
#include "trainer/cpu/integer/tile_wide-inl.hpp"
#include "trainer/cpu/integer/pack-inl.hpp"
#include "trainer/cpu/integer/finish-inl.hpp"
#include "trainer/cpu/integer/multiply-inl.hpp"
#include "trainer/cpu/integer/machine-inl.hpp"
// clang-format on

}  // namespace plain

const Machine& plain_machine() { return plain::machine(); }

}  // namespace assay::trainer::integer
