// SPDX-License-Identifier: Apache-2.0
// NEON: 4 lanes, products of 16-bit pairs by widening multiplications.
#include "trainer/cpu/integer/machines.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>

#include "contracts/arithmetic/exact_product.hpp"

namespace assay::trainer::integer {
namespace neon {

inline constexpr std::size_t kRows = 8;
inline constexpr std::size_t kCols = 8;
inline constexpr bool kHoldsHigh = false;
inline constexpr std::size_t kWideRows = 2;  // at a time, with two sums each
inline constexpr int kWideUnroll = 1;        // pairs of k

#include "trainer/cpu/integer/lanes_neon-inl.hpp"

inline void dot_pairs(I& sum, I a, I b) {
    const int16x8_t x = narrow_lanes(a), y = narrow_lanes(b);
    const int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y));
    sum = vaddq_s32(sum, vpaddq_s32(low, vmull_high_s16(x, y)));
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

}  // namespace neon

const Machine& neon_machine() { return neon::machine(); }

}  // namespace assay::trainer::integer
#endif
