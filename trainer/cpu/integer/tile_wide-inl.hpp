// SPDX-License-Identifier: Apache-2.0
// Multiplication of a 24-bit operand A by products of 16-bit pairs. A is two numbers of 12 bits, upper and
// lower, each multiplied by all 16 bits of B. Over a run of 32 k both sums are exact in 32 bits,
//   V of the upper and U of the lower,  |U|, |V + U / 2^12| <= 32 · 2,048 · 32,639 + 2^19 < 2^31.
// Their sum is S = 2^12 · V + U = 2^12 · X + (U mod 2^12) with X = V + floor(U / 2^12); it is kept as
// floor(X / 2^10) and S mod 2^22. That takes two multiplications, fewer than products of digits. Included
// once per target inside its namespace, after a tile that has pairs of A and column_pairs(): no guard.

inline constexpr int kLowerBits = 12;
inline constexpr double kSumUnitWide = 0x1p22;
inline constexpr std::size_t kRunPairs = 16;  // pairs of k before a sum is stored
static_assert(2 * kRunPairs * 2'048 * 32'639 < (1ULL << 31U));
static_assert(2 * kRunPairs * 2'040 * 32'639 + (1U << 19U) < (1ULL << 31U));
static_assert(8'355'711 + 2'048 < 2'041 * 4'096);
static_assert(arithmetic::kMaxProductBlock / (2 * kRunPairs) * (1ULL << 22U) <= (1ULL << 31U));
static_assert(kRows % kWideRows == 0 && kUnit % (2 * kRunPairs) == 0);

// Adds kWideRows rows of a run to `hi` and `lo`, or stores them.
inline void sum_wide_run(const std::byte* upper, const std::byte* lower, const std::byte* b, bool first,
                         std::int32_t* hi, std::int32_t* lo) {
    I v[kWideRows][kVectors], u[kWideRows][kVectors];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kWideRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t c = 0; c < kVectors; ++c) v[i][c] = u[i][c] = set(0);
    }
#pragma GCC unroll kWideUnroll
    for (std::size_t t = 0; t < kRunPairs; ++t) {
        I column[kVectors];
#pragma GCC unroll 4
        for (std::size_t c = 0; c < kVectors; ++c) column[c] = column_pairs(b + (t * kCols + c * kL) * 4);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kWideRows; ++i) {
            const I high = word(upper + i * kUnit * 2 + t * 4);
#pragma GCC unroll 4
            for (std::size_t c = 0; c < kVectors; ++c) dot_pairs(v[i][c], high, column[c]);
            const I low = word(lower + i * kUnit * 2 + t * 4);
#pragma GCC unroll 4
            for (std::size_t c = 0; c < kVectors; ++c) dot_pairs(u[i][c], low, column[c]);
        }
    }
    const I mask = set((1 << 22) - 1);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kWideRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t c = 0; c < kVectors; ++c) {
            const std::size_t at = i * kCols + c * kL;
            I above = shift_right<10>(add(v[i][c], shift_right<kLowerBits>(u[i][c])));
            I below = bit_and(add(shift_left<kLowerBits>(v[i][c]), u[i][c]), mask);
            if (!first) above = add(above, load(hi + at)), below = add(below, load(lo + at));
            store(hi + at, above);
            store(lo + at, below);
        }
    }
}

// Adds the sum over `units` units from unit `first` on of two panels of A, the upper and the lower numbers,
// with one of B, to `to`, or stores it when it is the first.
[[gnu::noinline]] inline void sum_wide_chunk(const std::byte* upper, const std::byte* lower,
                                             const std::byte* b, std::uint64_t first, std::uint64_t units,
                                             std::uint64_t /*all*/, Ahead ahead, Sums& to, Sums& /*other*/) {
    constexpr std::size_t kRuns = kRows / kWideRows * kUnit / (2 * kRunPairs);  // of a unit
    constexpr std::size_t kLines = (kRows * kUnit * 2 / 64 + kRuns - 1) / kRuns;
    upper += first * kUnitBytesA;
    lower += first * kUnitBytesA;
    b += first * kUnitBytesB;
    for (std::uint64_t unit = 0; unit < units; ++unit) {
        const std::byte* next = ahead.a + unit * kUnitBytesA;
        for (std::size_t i = 0; i < kRows; i += kWideRows) {
            for (std::size_t t = 0; t < kUnit / 2; t += kRunPairs) {
                for (std::size_t line = 0; line < kLines; ++line) {
                    __builtin_prefetch(next + line * 64);
                    __builtin_prefetch(next + (lower - upper) + line * 64);
                    __builtin_prefetch(ahead.b + line * 64, 0, 2);
                }
                next += kLines * 64, ahead.b += kLines * 64;
                const std::size_t at = i * kUnit * 2 + t * 4;
                sum_wide_run(upper + at, lower + at, b + t * kCols * 4, first + unit == 0 && t == 0,
                             to.hi + i * kCols, to.lo + i * kCols);
            }
        }
        upper += kUnitBytesA, lower += kUnitBytesA, b += kUnitBytesB;
    }
}

inline F finish_wide(const Sums& sums, const Sums& /*other*/, std::size_t at, I exponent) {
    return finish<false>(load(sums.hi + at), load(sums.lo + at), exponent, kSumUnitWide);
}

inline std::int64_t wide_sum(const Sums& sums, const Sums& /*other*/, std::size_t at) {
    return (std::int64_t{sums.hi[at]} << 22) + sums.lo[at];
}
