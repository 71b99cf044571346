// SPDX-License-Identifier: Apache-2.0
// Multiplication by an instruction for dot products of four signed bytes: four digit products in three
// passes. Included once per target inside its namespace, after digits-inl.hpp: no guard.

inline constexpr std::uint64_t kChunk = 256;
inline constexpr std::uint64_t kChunkUnits = kChunk / kUnit;
inline constexpr std::uint64_t kAheadB = 4096;  // bytes of B that a tile fetches for the next

// Adds sums of digit products to element `at`, or stores them when they are the first.
inline void add_digits(I hh, I mid, I ll, bool first, std::size_t at, Sums& to) {
    auto [hi, lo] = split_sum(hh, mid, ll);
    if (!first) hi = add(hi, load(to.hi + at)), lo = add(lo, load(to.lo + at));
    store(to.hi + at, hi);
    store(to.lo + at, lo);
}

// Adds the products of one plane of A with one of B over `units` units to `sum`, or stores them there.
template <std::uint64_t kUnitStrideA>
[[gnu::noinline]] inline void sum_plane(const std::byte* a, const std::byte* b, std::uint64_t units,
                                        const std::byte* next, bool first, std::int32_t* out) {
    I sum[kRows][kVectors];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v)
            sum[i][v] = first ? set(0) : load(out + i * kCols + v * kL);
    }
    for (; units > 0; --units, a += kUnitStrideA, b += kUnitBytesB, next += kUnit / 4 * 64) {
        for (std::size_t q = 0; q < kUnit / 4; ++q) {
            __builtin_prefetch(next + q * 64);
            add_products(a + q * 4, kUnit, b + q * kCols * 4, dot_bytes, sum);
        }
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) store(out + i * kCols + v * kL, sum[i][v]);
    }
}

// Adds the sum over `units` <= kChunkUnits units of two panels from unit `first` on (a multiple of
// kChunkUnits) to `to`, or stores it when it is the first.
inline void sum_chunk(const std::byte* a, const std::byte* b, std::uint64_t first, std::uint64_t units,
                      std::uint64_t /*all*/, Ahead ahead, Sums& to) {
    alignas(64) std::int32_t hh[kRows * kCols], mid[kRows * kCols], ll[kRows * kCols];
    a += first * kUnitBytesA;
    b += first * kUnitBytesB;
    sum_plane<kUnitBytesA>(a, b, units, ahead.a, true, hh);
    sum_plane<kUnitBytesA>(a, b + kLowAtB, units, ahead.b, true, mid);
    sum_plane<kUnitBytesA>(a + kLowAtA, b, units, ahead.b, false, mid);
    sum_plane<kUnitBytesA>(a + kLowAtA, b + kLowAtB, units, ahead.b, true, ll);
    for (std::size_t at = 0; at < kRows * kCols; at += kL) {
        add_digits(load(hh + at), load(mid + at), load(ll + at), first == 0, at, to);
    }
}

// The same of the lowest digits of a 24-bit operand A.
inline void sum_lowest_chunk(const std::byte* a, const std::byte* b, std::uint64_t first, std::uint64_t units,
                             std::uint64_t /*all*/, Ahead ahead, Sums& to) {
    alignas(64) std::int32_t mid[kRows * kCols], ll[kRows * kCols];
    a += first * kUnitBytesLowest;
    b += first * kUnitBytesB;
    sum_plane<kUnitBytesLowest>(a, b, units, ahead.a, true, mid);
    sum_plane<kUnitBytesLowest>(a, b + kLowAtB, units, ahead.b, true, ll);
    for (std::size_t at = 0; at < kRows * kCols; at += kL) {
        add_digits(set(0), load(mid + at), load(ll + at), first == 0, at, to);
    }
}

inline void sum_wide_chunk(const std::byte* upper, const std::byte* lower, const std::byte* b,
                           std::uint64_t first, std::uint64_t units, std::uint64_t all, Ahead ahead, Sums& to,
                           Sums& lowest) {
    sum_chunk(upper, b, first, units, all, {lower + first * kUnitBytesLowest, ahead.b}, to);
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
