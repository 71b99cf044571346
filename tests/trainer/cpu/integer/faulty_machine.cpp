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
    test::MultiplierFault& fault = test::fault();
    if (!fault.multiplies) return;
    if (fault.calls++ == fault.at) {
        sum.lane[fault.lane % kL] = as_signed(as_unsigned(sum.lane[fault.lane % kL]) ^ (1U << fault.bit));
    }
}

inline void move_upper(I& sum, std::int32_t* high) {
    ++test::fault().moves;
    move_upper(sum, static_cast<void*>(high));
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

// A wrong energy costs time if it is too large, and a sum, which is judged, if it is too small.
inline bool multiply_counted(const ProductTile& tile) {
    test::fault().multiplies = true;
    const bool finite = multiply(tile);
    test::fault().multiplies = false;
    return finite;
}

}  // namespace faulty

const Machine& test::faulty_machine() {
    static const Machine one = [] {
        Machine machine = faulty::machine();
        machine.multiply = faulty::multiply_counted;
        return machine;
    }();
    return one;
}

}  // namespace assay::trainer::integer
