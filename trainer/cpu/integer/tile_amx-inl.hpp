// SPDX-License-Identifier: Apache-2.0
// Multiplication by AMX: the digit products of 16 × 16 outputs over 64 k at a time. Included once per target
// inside its namespace, after digits-inl.hpp; `Registers` are the tiles: no guard.
//
// Three accumulators: hi · hi, lo · lo, and the two mixed products in one. Four more tiles hold the digits,
// so that a unit of 64 k takes four loads and four multiplications. A multiplication takes 17 cycles, also
// when it adds to the accumulator of the one before, and 22 with a load from the first cache beside it, which
// is what a core can reach. A load takes 9 cycles from the first cache and 22 from the second, so one of the
// operands may come from there (decision 108; measured on an Intel Xeon).

static_assert(kRows == 16 && kCols == 16 && kL == 16);

inline constexpr std::size_t kRowBytes = 64;  // of a tile
inline constexpr std::size_t kTileSums = kRows * kCols;

// The sums of digit products of a tile's outputs.
struct alignas(64) DigitSums {
    std::int32_t hh[kTileSums], mid[kTileSums], ll[kTileSums];
    std::int32_t lowest[kTileSums];  // of a 24-bit operand A
};

// Multiplies `units` units of two panels, and adds `from` to the sums unless it is null. `aside()` is called
// twice per unit and does other work beside the multiplications; `aside.rest()` does what is left of it
// before `to` is written.
template <class Aside>
inline void sum_tile(const std::byte* a, const std::byte* b, std::uint64_t units, const DigitSums* from,
                     const Aside& aside, DigitSums& to) {
    if (from == nullptr) {
        Registers::zero<0>();
        Registers::zero<1>();
        Registers::zero<2>();
    } else {
        Registers::load<0>(from->hh, kRowBytes);
        Registers::load<1>(from->mid, kRowBytes);
        Registers::load<2>(from->ll, kRowBytes);
    }
    for (; units > 0; --units, a += kUnitBytesA, b += kUnitBytesB) {
        Registers::load<3>(a, kRowBytes);
        Registers::load_once<5>(b, kRowBytes);
        Registers::dot<0, 3, 5>();
        Registers::load<4>(a + kLowAtA, kRowBytes);
        Registers::dot<1, 4, 5>();
        aside();
        Registers::load_once<6>(b + kLowAtB, kRowBytes);
        Registers::dot<2, 4, 6>();
        Registers::dot<1, 3, 6>();
        aside();
    }
    aside.rest();
    Registers::store<0>(to.hh, kRowBytes);
    Registers::store<2>(to.ll, kRowBytes);
    Registers::store<1>(to.mid, kRowBytes);
}

// The same for a 24-bit operand A with lowest digits at `lowest`: two products more. The lowest digits times
// B's high ones weigh as much as low times low and share their accumulator.
template <class Aside>
inline void sum_wide_tile(const std::byte* a, const std::byte* lowest, const std::byte* b,
                          std::uint64_t units, const DigitSums* from, const Aside& aside, DigitSums& to) {
    if (from == nullptr) {
        Registers::zero<0>();
        Registers::zero<1>();
        Registers::zero<2>();
        Registers::zero<3>();
    } else {
        Registers::load<0>(from->hh, kRowBytes);
        Registers::load<1>(from->mid, kRowBytes);
        Registers::load<2>(from->ll, kRowBytes);
        Registers::load<3>(from->lowest, kRowBytes);
    }
    for (; units > 0; --units, a += kUnitBytesA, lowest += kUnitBytesLowest, b += kUnitBytesB) {
        Registers::load_once<4>(b, kRowBytes);
        Registers::load<6>(a, kRowBytes);
        Registers::dot<0, 6, 4>();
        Registers::load_once<5>(b + kLowAtB, kRowBytes);
        Registers::dot<1, 6, 5>();
        aside();
        Registers::load<7>(a + kLowAtA, kRowBytes);
        Registers::dot<1, 7, 4>();
        Registers::dot<2, 7, 5>();
        aside();
        Registers::load<6>(lowest, kRowBytes);
        Registers::dot<2, 6, 4>();
        Registers::dot<3, 6, 5>();
    }
    aside.rest();
    Registers::store<0>(to.hh, kRowBytes);
    Registers::store<1>(to.mid, kRowBytes);
    Registers::store<2>(to.ll, kRowBytes);
    Registers::store<3>(to.lowest, kRowBytes);
}
