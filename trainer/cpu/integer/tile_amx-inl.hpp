// SPDX-License-Identifier: Apache-2.0
// Multiplication by AMX: four digit products of 16 × 16 outputs over 64 k, an accumulator for each, because
// an accumulator takes a new product only when the last one is through. Included once per target inside its
// namespace, after digits-inl.hpp; `Registers` are the tiles: no guard.

static_assert(kRows == 16 && kCols == 16 && kL == 16);
inline constexpr std::uint64_t kChunkUnits = 8;
inline constexpr std::uint64_t kChunk = kChunkUnits * kUnit;

inline constexpr std::size_t kRowBytes = 64;  // of a tile

inline void sum_chunk(const std::byte* a, const std::byte* b, std::uint64_t first, std::uint64_t units,
                      std::uint64_t /*all*/, Ahead ahead, Sums& to) {
    alignas(64) std::int32_t hh[kRows * kCols], hl[kRows * kCols], lh[kRows * kCols], ll[kRows * kCols];
    a += first * kUnitBytesA;
    b += first * kUnitBytesB;
    Registers::zero<0>();
    Registers::zero<1>();
    Registers::zero<2>();
    Registers::zero<3>();
    const std::byte* next = ahead.a;
    for (; units > 0; --units, a += kUnitBytesA, b += kUnitBytesB, next += kUnitBytesA) {
        Registers::load<4>(a, kRowBytes);
        Registers::load<5>(b, kRowBytes);
        Registers::dot<0, 4, 5>();
        Registers::load<6>(b + kLowAtB, kRowBytes);
        Registers::dot<1, 4, 6>();
        Registers::load<7>(a + kLowAtA, kRowBytes);
        Registers::dot<2, 7, 5>();
        Registers::dot<3, 7, 6>();
        for (std::size_t line = 0; line < kUnitBytesA; line += 64) __builtin_prefetch(next + line, 0, 2);
    }
    Registers::store<0>(hh, kRowBytes);
    Registers::store<1>(hl, kRowBytes);
    Registers::store<2>(lh, kRowBytes);
    Registers::store<3>(ll, kRowBytes);
    for (std::size_t at = 0; at < kRows * kCols; at += kL) {
        add_digits(load(hh + at), add(load(hl + at), load(lh + at)), load(ll + at), first == 0, at, to);
    }
}

// The same where A has lowest digits only: its high ones are 0.
inline void sum_lowest_chunk(const std::byte* a, const std::byte* b, std::uint64_t first, std::uint64_t units,
                             std::uint64_t /*all*/, Ahead /*ahead*/, Sums& to) {
    alignas(64) std::int32_t lh[kRows * kCols], ll[kRows * kCols];
    a += first * kUnitBytesA + kLowAtA;
    b += first * kUnitBytesB;
    Registers::zero<2>();
    Registers::zero<3>();
    for (; units > 0; --units, a += kUnitBytesA, b += kUnitBytesB) {
        Registers::load<7>(a, kRowBytes);
        Registers::load<5>(b, kRowBytes);
        Registers::dot<2, 7, 5>();
        Registers::load<6>(b + kLowAtB, kRowBytes);
        Registers::dot<3, 7, 6>();
    }
    Registers::store<2>(lh, kRowBytes);
    Registers::store<3>(ll, kRowBytes);
    for (std::size_t at = 0; at < kRows * kCols; at += kL) {
        add_digits(set(0), load(lh + at), load(ll + at), first == 0, at, to);
    }
}

inline void sum_wide_chunk(const std::byte* upper, const std::byte* lower, const std::byte* b,
                           std::uint64_t first, std::uint64_t units, std::uint64_t all, Ahead ahead, Sums& to,
                           Sums& lowest) {
    sum_chunk(upper, b, first, units, all, {lower + first * kUnitBytesA, ahead.b}, to);
    sum_lowest_chunk(lower, b, first, units, all, ahead, lowest);
}

inline F finish_wide(const Sums& sums, const Sums& lowest, std::size_t at, I exponent) {
    return finish24(load(sums.hi + at), load(sums.lo + at), load(lowest.hi + at), load(lowest.lo + at),
                    exponent);
}

inline std::int64_t wide_sum(const Sums& sums, const Sums& lowest, std::size_t at) {
    return 256 * (std::int64_t{sums.hi[at]} * 65'536 + sums.lo[at]) + std::int64_t{lowest.hi[at]} * 65'536 +
           lowest.lo[at];
}
