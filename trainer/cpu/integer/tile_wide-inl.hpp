// SPDX-License-Identifier: Apache-2.0
// Multiplication of a 24-bit operand A by products of 16-bit pairs. A is two numbers of 12 bits, upper and
// lower, each multiplied by all 16 bits of B. Over a run of 32 k both sums are exact in 32 bits, with what is
// left of the run before,
//   u of the lower,  |u| < 2^12 + 32 · 2,048 · 32,639 < 2^31,
//   v of the upper,  |v + u / 2^12| < 2^10 + 32 · 2,041 · 32,639 + 2^19 < 2^31.
// After a run all but 12 bits of u move to v, and all but 10 bits of v to hi. That takes two multiplications,
// fewer than products of digits. Included once per target inside its namespace, after a tile whose units
// begin with pairs: no guard.

inline constexpr int kLowerBits = 12;
inline constexpr double kSumUnitWide = 0x1p22;
inline constexpr std::size_t kRunPairs = 16;  // pairs of k of a run
static_assert(2 * kRunPairs * 2'048 * 32'639 + 4'095 < (1ULL << 31U));
static_assert(2 * kRunPairs * 2'041 * 32'639 + 1'023 + (1U << 19U) < (1ULL << 31U));
static_assert(8'355'711 + 2'048 < 2'041 * 4'096);
static_assert((arithmetic::kMaxProductBlock * 8'355'711 * 32'639 >> 22U) + 1 < (1ULL << 31U));  // hi
static_assert(kRows % kWideRows == 0 && kUnit % (2 * kRunPairs) == 0);

// Writes 64 numbers of a lane, the upper or the lower ones.
inline void emit_upper(const std::int32_t* numbers, std::byte* panel, std::uint64_t /*units*/,
                       std::uint64_t unit, std::uint64_t row) {
    __builtin_memcpy(panel + unit * kUnitBytesA + row * kUnit * 2, numbers, kUnit * 2);
}
inline void emit_lower(const std::int32_t* numbers, std::byte* panel, std::uint64_t units, std::uint64_t unit,
                       std::uint64_t row) {
    emit_upper(numbers, panel, units, unit, row);
}

// The sums of kWideRows rows: S = 2^22 · hi + 2^12 · v + u, with 0 <= v < 2^10 and 0 <= u < 2^12 between
// runs.
struct WideSums {
    I hi[kWideRows][kVectors], v[kWideRows][kVectors], u[kWideRows][kVectors];
};

// Adds the products of a run to v and u. kUpper: upper numbers that are not zero are among them.
template <bool kUpper>
inline void add_wide_run(const std::byte* upper, const std::byte* lower, const std::byte* b, WideSums& sums) {
#pragma GCC unroll kWideUnroll
    for (std::size_t t = 0; t < kRunPairs; ++t) {
        I column[kVectors];
#pragma GCC unroll 4
        for (std::size_t c = 0; c < kVectors; ++c) column[c] = load(b + (t * kCols + c * kL) * 4);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kWideRows; ++i) {
            if constexpr (kUpper) {
                const I high = word(upper + i * kUnit * 2 + t * 4);
#pragma GCC unroll 4
                for (std::size_t c = 0; c < kVectors; ++c) dot_pairs(sums.v[i][c], high, column[c]);
            }
            const I low = word(lower + i * kUnit * 2 + t * 4);
#pragma GCC unroll 4
            for (std::size_t c = 0; c < kVectors; ++c) dot_pairs(sums.u[i][c], low, column[c]);
        }
    }
}

// Whether a run of kWideRows rows has an upper number that is not zero.
inline bool has_upper(const std::byte* upper) {
    I bits = set(0);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kWideRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t t = 0; t < kRunPairs; t += kL) {
            bits = bit_or(bits, load(upper + i * kUnit * 2 + t * 4));
        }
    }
    return any(bits);
}

inline constexpr std::size_t kWideRuns = kUnit / (2 * kRunPairs);
// Lines to fetch ahead in a run: kRows / kWideRows times a unit's runs bring its numbers of A.
inline constexpr std::size_t kWideFetches = kRows / kWideRows * kWideRuns;
inline constexpr std::size_t kWideLines = (kRows * kUnit * 2 / 64 + kWideFetches - 1) / kWideFetches;

// Adds the sums of kWideRows rows over `units` units to `hi` and `lo`, or stores them.
[[gnu::noinline]] inline void sum_wide_rows(const std::byte* upper, const std::byte* lower,
                                            const std::byte* b, bool first, std::uint64_t units, Ahead ahead,
                                            std::uint64_t to_lower, std::int32_t* hi, std::int32_t* lo) {
    const I low12 = set((1 << 12) - 1), low10 = set((1 << 10) - 1);
    WideSums sums;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kWideRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t c = 0; c < kVectors; ++c) {
            const std::size_t at = i * kCols + c * kL;
            const I below = first ? set(0) : load(lo + at);
            sums.hi[i][c] = first ? set(0) : load(hi + at);
            sums.v[i][c] = shift_right<kLowerBits>(below);
            sums.u[i][c] = bit_and(below, low12);
        }
    }
    for (std::uint64_t run = 0; run < units * kWideRuns; ++run) {
        for (std::size_t line = 0; line < kWideLines; ++line) {
            __builtin_prefetch(ahead.a + line * 64);
            __builtin_prefetch(ahead.a + to_lower + line * 64);
            __builtin_prefetch(ahead.b + line * 64, 0, 2);
        }
        if (has_upper(upper)) {
            add_wide_run<true>(upper, lower, b, sums);
        } else {
            add_wide_run<false>(upper, lower, b, sums);
        }
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kWideRows; ++i) {
#pragma GCC unroll 4
            for (std::size_t c = 0; c < kVectors; ++c) {
                I &v = sums.v[i][c], &u = sums.u[i][c];
                v = add(v, shift_right<kLowerBits>(u));
                u = bit_and(u, low12);
                sums.hi[i][c] = add(sums.hi[i][c], shift_right<10>(v));
                v = bit_and(v, low10);
            }
        }
        const bool ends = (run + 1) % kWideRuns == 0;  // a unit
        const auto step = [&](std::uint64_t bytes, std::uint64_t unit) {
            return bytes + (ends ? unit - kWideRuns * bytes : 0);
        };
        upper += step(kRunPairs * 4, kUnitBytesA);
        lower += step(kRunPairs * 4, kUnitBytesA);
        b += step(kRunPairs * kCols * 4, kUnitBytesB);
        ahead.a += step(kWideLines * 64, kUnitBytesA);
        ahead.b += kWideLines * 64;
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kWideRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t c = 0; c < kVectors; ++c) {
            const std::size_t at = i * kCols + c * kL;
            store(hi + at, sums.hi[i][c]);
            store(lo + at, add(shift_left<kLowerBits>(sums.v[i][c]), sums.u[i][c]));
        }
    }
}

// Adds the sum over `units` units from unit `first` on of two panels of A, the upper and the lower numbers,
// with one of B, to `to`, or stores it when it is the first.
inline void sum_wide_chunk(const std::byte* upper, const std::byte* lower, const std::byte* b,
                           std::uint64_t first, std::uint64_t units, std::uint64_t /*all*/, Ahead ahead,
                           Sums& to, Sums& /*other*/) {
    upper += first * kUnitBytesA;
    lower += first * kUnitBytesA;
    b += first * kUnitBytesB;
    for (std::size_t i = 0; i < kRows; i += kWideRows) {
        const std::size_t at = i * kUnit * 2;
        sum_wide_rows(upper + at, lower + at, b, first == 0, units, ahead,
                      static_cast<std::uint64_t>(lower - upper), to.hi + i * kCols, to.lo + i * kCols);
        ahead.a += kWideRuns * kWideLines * 64;
        ahead.b += units * kWideRuns * kWideLines * 64;
    }
}

inline F finish_wide(const Sums& sums, const Sums& /*other*/, std::size_t at, I exponent) {
    return finish<false>(load(sums.hi + at), load(sums.lo + at), exponent, kSumUnitWide);
}

inline std::int64_t wide_sum(const Sums& sums, const Sums& /*other*/, std::size_t at) {
    return (std::int64_t{sums.hi[at]} << 22) + sums.lo[at];
}
