// SPDX-License-Identifier: Apache-2.0
// The plain machine on a multiplier that turns over one bit of one sum, once: what a faulty core does.
#include "tests/trainer/cpu/integer/faulty_machine.hpp"
#include "contracts/arithmetic/exact_product.hpp"

namespace assay::trainer::integer {

namespace test {
MultiplierFault& fault() {
    static MultiplierFault one;
    return one;
}
}  // namespace test

namespace faulty {

inline constexpr std::size_t kRows = 4;
inline constexpr std::size_t kCols = 8;
inline constexpr bool kHoldsHigh = false;
inline constexpr std::size_t kWideRows = 2;
inline constexpr int kWideUnroll = 1;

#include "trainer/cpu/integer/lanes_plain-inl.hpp"

inline void dot_pairs(I& sum, I a, I b) {
    for (std::size_t i = 0; i < kL; ++i) {
        const std::int32_t low = static_cast<std::int16_t>(a.lane[i]) * static_cast<std::int16_t>(b.lane[i]);
        const std::int32_t high = (a.lane[i] >> 16) * (b.lane[i] >> 16);
        sum.lane[i] = as_signed(as_unsigned(sum.lane[i]) + as_unsigned(low) + as_unsigned(high));
    }
    // Squares are packing's energies, and hardly any product: too large a one costs time, too small a one a
    // sum, which is judged.
    if (__builtin_memcmp(&a, &b, sizeof(a)) == 0) return;
    test::MultiplierFault& fault = test::fault();
    if (fault.calls++ == fault.at) {
        sum.lane[fault.lane % kL] = as_signed(as_unsigned(sum.lane[fault.lane % kL]) ^ (1U << fault.bit));
    }
}

// Each builds on those before it.
// clang-format off
#include "trainer/cpu/integer/sums-inl.hpp"
#include "trainer/cpu/integer/tile_vectors-inl.hpp"
#include "trainer/cpu/integer/tile_runs-inl.hpp"
#include "trainer/cpu/integer/tile_wide-inl.hpp"
#include "trainer/cpu/integer/pack-inl.hpp"
#include "trainer/cpu/integer/multiply-inl.hpp"
// clang-format on

}  // namespace faulty

const Machine& test::faulty_machine() { return faulty::machine(); }

}  // namespace assay::trainer::integer
