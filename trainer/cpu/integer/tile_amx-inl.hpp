// SPDX-License-Identifier: Apache-2.0
// Multiplication by AMX: four digit products of 16 × 32 outputs over 64 k. Included once per target inside
// its namespace, after digits-inl.hpp; `Registers` are the tiles: no guard.
//
// Six accumulators: hi · hi, lo · lo, and the two mixed products in one, for each half of the columns. In a
// unit of 64 k the eight multiplications take 16 cycles each, 128 in all. An accumulator accepts its next
// product 52 cycles after the last, so the mixed ones, with two in a unit, need 104. The nine loads need 72
// cycles, 8 each, if the operands are in a near cache: the panel of B (4 KiB a unit, 32 KiB a chunk) stays in
// the first cache while the panels of A stream from the second, at 2 KiB a unit, 16 bytes a cycle. Storing
// the accumulators takes 96 cycles, and adding them up about as many; the latter is done later, a row at a
// time between the products of the next tile. Counted from Intel's tables, not measured in this form.

static_assert(kRows == 16 && kCols == 32 && kL == 16);
inline constexpr std::uint64_t kChunkUnits = 8;
inline constexpr std::uint64_t kChunk = kChunkUnits * kUnit;

inline constexpr std::size_t kTile = 16;              // rows and columns of a tile register
inline constexpr std::size_t kRowBytesA = kUnit;      // of a unit's plane of digits
inline constexpr std::size_t kRowBytesB = kCols * 4;  // of four k
inline constexpr std::size_t kRightB = kTile * 4;     // where the right half of a row starts
inline constexpr std::size_t kLineBytes = 64;
static_assert(arithmetic::kMaxProductBlock * 2 * 128 * 128 < (1ULL << 31U));  // the mixed ones in one sum

// What a chunk leaves of a tile; add_row() adds it up.
struct alignas(64) DigitSums {
    static constexpr bool kAddedLater = true;
    std::int32_t hh[kRows * kCols], mid[kRows * kCols], ll[kRows * kCols];
    std::int32_t lowest_mid[kRows * kCols], lowest_ll[kRows * kCols];  // of a 24-bit operand A
};

// Adds a row of a tile to its sums, or stores it when it is of the first chunk.
inline void add_row(const DigitSums& from, std::size_t row, bool first, bool wide, Sums& to, Sums& lowest) {
#pragma GCC unroll 2
    for (std::size_t at = row * kCols; at < (row + 1) * kCols; at += kL) {
        add_digits(load(from.hh + at), load(from.mid + at), load(from.ll + at), first, at, to);
        if (wide)
            add_digits(set(0), load(from.lowest_mid + at), load(from.lowest_ll + at), first, at, lowest);
    }
}

inline constexpr std::size_t kStoredRowBytes = kCols * sizeof(std::int32_t);

// Multiplies up to kChunkUnits units of two panels from unit `first` on. Twice per unit it does a row of the
// work that is left of the tile before. It finishes that work before it writes to `to`, from which the work
// reads.
template <class Row, class Rest>
inline void multiply_chunk(const std::byte* a, const std::byte* b, std::uint64_t first, std::uint64_t units,
                           Ahead ahead, const Row& row_before, const Rest& rest_before, DigitSums& to) {
    a += first * kUnitBytesA;
    b += first * kUnitBytesB;
    Registers::zero<0>();
    Registers::zero<1>();
    Registers::zero<2>();
    Registers::zero<3>();
    Registers::zero<4>();
    Registers::zero<5>();
    // Prefetches B: 4 KiB with each panel of A, so three quarters of a chunk with the six of a region. Panels
    // of A lie one behind the other, so the processor prefetches them by itself.
    constexpr std::size_t kShare = kAheadB / kChunkUnits;
    const std::byte* next = ahead.b;
    for (; units > 0; --units, a += kUnitBytesA, b += kUnitBytesB, next += kShare) {
        // Sums 0 to 2 are the left half's hi · hi, mixed and lo · lo, 3 to 5 the right half's.
        Registers::load<6>(a, kRowBytesA);
        Registers::load<7>(b, kRowBytesB);
        Registers::dot<0, 6, 7>();
        Registers::load<7>(b + kRightB, kRowBytesB);
        Registers::dot<3, 6, 7>();
        Registers::load<7>(b + kLowAtB, kRowBytesB);
        Registers::dot<1, 6, 7>();
        Registers::load<7>(b + kLowAtB + kRightB, kRowBytesB);
        Registers::dot<4, 6, 7>();
        row_before();
        Registers::load<6>(a + kLowAtA, kRowBytesA);
        Registers::dot<5, 6, 7>();
        Registers::load<7>(b + kLowAtB, kRowBytesB);
        Registers::dot<2, 6, 7>();
        Registers::load<7>(b, kRowBytesB);
        Registers::dot<1, 6, 7>();
        Registers::load<7>(b + kRightB, kRowBytesB);
        Registers::dot<4, 6, 7>();
        row_before();
#pragma GCC unroll 8
        for (std::size_t line = 0; line < kShare; line += kLineBytes) __builtin_prefetch(next + line, 0, 2);
    }
    rest_before();
    Registers::store<0>(to.hh, kStoredRowBytes);
    Registers::store<1>(to.mid, kStoredRowBytes);
    Registers::store<2>(to.ll, kStoredRowBytes);
    Registers::store<3>(to.hh + kTile, kStoredRowBytes);
    Registers::store<4>(to.mid + kTile, kStoredRowBytes);
    Registers::store<5>(to.ll + kTile, kStoredRowBytes);
}

// The same when A has only the lowest digits of a 24-bit operand: its high digits are 0.
inline void multiply_lowest_chunk(const std::byte* a, const std::byte* b, std::uint64_t first,
                                  std::uint64_t units, DigitSums& to) {
    a += first * kUnitBytesA + kLowAtA;
    b += first * kUnitBytesB;
    Registers::zero<0>();
    Registers::zero<1>();
    Registers::zero<2>();
    Registers::zero<3>();
    for (; units > 0; --units, a += kUnitBytesA, b += kUnitBytesB) {
        Registers::load<6>(a, kRowBytesA);
        Registers::load<7>(b, kRowBytesB);
        Registers::dot<0, 6, 7>();
        Registers::load<4>(b + kRightB, kRowBytesB);
        Registers::dot<2, 6, 4>();
        Registers::load<7>(b + kLowAtB, kRowBytesB);
        Registers::dot<1, 6, 7>();
        Registers::load<4>(b + kLowAtB + kRightB, kRowBytesB);
        Registers::dot<3, 6, 4>();
    }
    Registers::store<0>(to.lowest_mid, kStoredRowBytes);
    Registers::store<1>(to.lowest_ll, kStoredRowBytes);
    Registers::store<2>(to.lowest_mid + kTile, kStoredRowBytes);
    Registers::store<3>(to.lowest_ll + kTile, kStoredRowBytes);
}

// The products of a chunk of a tile. With `a_lower`, A is a 24-bit operand.
template <class Row, class Rest>
inline void sum_tile(const std::byte* a, const std::byte* a_lower, const std::byte* b, std::uint64_t first,
                     std::uint64_t units, std::uint64_t /*all*/, Ahead ahead, const Row& row_before,
                     const Rest& rest_before, DigitSums& digits, Sums& /*sums*/, Sums& /*lowest*/) {
    multiply_chunk(a, b, first, units, ahead, row_before, rest_before, digits);
    if (a_lower != nullptr) multiply_lowest_chunk(a_lower, b, first, units, digits);
}

inline F finish_wide(const Sums& sums, const Sums& lowest, std::size_t at, I exponent) {
    return finish24(load(sums.hi + at), load(sums.lo + at), load(lowest.hi + at), load(lowest.lo + at),
                    exponent);
}

inline std::int64_t wide_sum(const Sums& sums, const Sums& lowest, std::size_t at) {
    return 256 * (std::int64_t{sums.hi[at]} * 65'536 + sums.lo[at]) + std::int64_t{lowest.hi[at]} * 65'536 +
           lowest.lo[at];
}
