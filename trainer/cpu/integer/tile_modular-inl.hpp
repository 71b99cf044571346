// SPDX-License-Identifier: Apache-2.0
// Multiplication by two dot-product instructions, one of 16-bit pairs and one of bytes in fours (VNNI). For a
// chunk of k each gives an int32: `hh`, the exact sum of hi_a · hi_b; and `w`, the sum of v_a · v_b modulo
// 2^32, since the instruction wraps around. The wanted sum is hh · 2^16 + r, where
//   r = sum of (v_a · lo_b + lo_a · 256 · hi_b),  |r| <= kChunk · (32,639 · 128 + 128 · 256 · 127) < 2^31,
// so r is w − hh · 2^16 modulo 2^32, as a signed number. That takes three quarters of the instructions of
// four digit products. The instruction takes hi_a as an unsigned byte, hi_a + 128, so hh starts at −128 ·
// (sum of hi_b).
//
// A unit of A: kRows rows of kUnit 16-bit numbers, then kRows rows of kUnit bytes hi + 128. A unit of B: for
// each pair of k the pairs of kCols columns, then for each four k their bytes hi. After the units of B come
// the starts of hh, for each chunk. The bytes of four k have the order k, k + 2, k + 1, k + 3 on both sides.
// Included once per target inside its namespace, between tile_vectors-inl.hpp and pack: no guard.

inline constexpr std::uint64_t kChunk = 256;
inline constexpr std::uint64_t kChunkUnits = kChunk / kUnit;
static_assert(kChunk * (32'639 * 128 + 128 * 256 * 127) < (1ULL << 31U));
static_assert(kChunk * 255 * 127 < (1ULL << 31U));
inline constexpr std::uint64_t kUnitBytesA = kRows * kUnit * 3;
inline constexpr std::uint64_t kUnitBytesB = kCols * kUnit * 3;
inline constexpr std::uint64_t kAheadB = kChunk / 4 * 64;
inline constexpr std::uint64_t kBytesAt = kUnit * 2;  // times lanes: where the bytes of a unit start

inline std::uint64_t chunks(std::uint64_t units) { return (units + kChunkUnits - 1) / kChunkUnits; }

inline std::uint64_t a_panel_bytes(std::uint64_t depth) { return units_of(depth) * kUnitBytesA; }
inline std::uint64_t b_panel_bytes(std::uint64_t depth) {
    const std::uint64_t units = units_of(depth);
    const std::uint64_t bytes = units * kUnitBytesB + chunks(units) * kCols * sizeof(std::int32_t);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

inline void emit_a(const std::int32_t* numbers, std::byte* panel, std::uint64_t /*units*/, std::uint64_t unit,
                   std::uint64_t row) {
    std::byte* const out = panel + unit * kUnitBytesA;
    std::byte* pairs = out + row * kUnit * 2;
    std::byte* bytes = out + kRows * kBytesAt + row * kUnit;
    // hi + 128 is the upper byte of v + 128 + 2^15.
    const I half = set(0x00800080), flip = set(static_cast<std::int32_t>(0x80008000U));
    const auto high = [&](I x) { return shift_right16<8>(bit_xor(add16(x, half), flip)); };
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kUnit / 2; v += 2 * kL) {
        const I x = load(numbers + v), y = load(numbers + v + kL);
        store(pairs + v * 4, x);
        store(pairs + (v + kL) * 4, y);
        store_bytes(bytes + v * 2, high(x), high(y));
    }
}

inline void emit_b(const std::int32_t* pairs, std::byte* panel, std::uint64_t /*units*/, std::uint64_t unit,
                   std::uint64_t column) {
    std::byte* out = panel + unit * kUnitBytesB + column * 4;
    std::byte* bytes = panel + unit * kUnitBytesB + kCols * kBytesAt + column * 4;
    const I half = set(0x00800080);
    const I even = set(0x00ff00ff), odd = set(static_cast<std::int32_t>(0xff00ff00U));
    for (std::size_t t = 0; t < kUnit / 2; t += 2) {
        const I x0 = load(pairs + t * kL), x1 = load(pairs + (t + 1) * kL);
        store(out + t * kCols * 4, x0);
        store(out + (t + 1) * kCols * 4, x1);
        store(bytes + t / 2 * kCols * 4,
              bit_or(bit_and(shift_right16<8>(add16(x0, half)), even), bit_and(add16(x1, half), odd)));
    }
}

inline void complete_b(std::byte* panel, std::uint64_t units) {
    std::byte* starts = panel + units * kUnitBytesB;
    for (std::uint64_t chunk = 0; chunk < chunks(units); ++chunk) {
        const std::uint64_t last = (chunk + 1) * kChunkUnits < units ? (chunk + 1) * kChunkUnits : units;
        for (std::uint64_t column = 0; column < kCols; column += kL) {
            I sum = set(0);
            for (std::uint64_t u = chunk * kChunkUnits; u < last; ++u) {
                const std::byte* bytes = panel + u * kUnitBytesB + kCols * kBytesAt + column * 4;
                for (std::uint64_t q = 0; q < kUnit / 4; ++q) {
                    dot_bytes(sum, set(static_cast<std::int32_t>(0x80808080U)), load(bytes + q * kCols * 4));
                }
            }
            store(starts + (chunk * kCols + column) * 4, sub(set(0), sum));
        }
    }
}

// Sums of pairs over `units` units, in 32 bits that wrap around. Prefetches `next` into the nearest cache.
[[gnu::noinline]] inline void sum_pairs(const std::byte* a, const std::byte* b, std::uint64_t units,
                                        const std::byte* next, std::int32_t* out) {
    I sum[kRows][kVectors];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] = set(0);
    }
    for (; units > 0; --units, a += kUnitBytesA, b += kUnitBytesB, next += kUnit / 2 * 64) {
        for (std::size_t t = 0; t < kUnit / 2; ++t) {
            __builtin_prefetch(next + t * 64);
            add_products(a + t * 4, kUnit * 2, b + t * kCols * 4, dot_pairs, sum);
        }
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) store(out + i * kCols + v * kL, sum[i][v]);
    }
}

// Adds the chunk's sum to `to`, or stores it there.
[[gnu::noinline]] inline void sum_bytes(const std::byte* a, const std::byte* b, std::uint64_t units,
                                        const std::byte* starts, const std::int32_t* pairs, bool first,
                                        const std::byte* next, Sums& to) {
    I sum[kRows][kVectors];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] = load(starts + v * kL * 4);
    }
    a += kRows * kBytesAt;
    b += kCols * kBytesAt;
    for (; units > 0; --units, a += kUnitBytesA, b += kUnitBytesB, next += kUnit / 4 * 64) {
        for (std::size_t q = 0; q < kUnit / 4; ++q) {
            __builtin_prefetch(next + q * 64, 0, 2);
            add_products(a + q * 4, kUnit, b + q * kCols * 4, dot_bytes, sum);
        }
    }
    const I low = set(0xffff);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) {
            const std::size_t at = i * kCols + v * kL;
            const I rest = sub(load(pairs + at), shift_left<16>(sum[i][v]));
            I hi = add(sum[i][v], shift_right<16>(rest)), lo = bit_and(rest, low);
            if (!first) hi = add(hi, load(to.hi + at)), lo = add(lo, load(to.lo + at));
            store(to.hi + at, hi);
            store(to.lo + at, lo);
        }
    }
}

// Adds the sum over `units` <= kChunkUnits units from unit `first` on (a multiple of kChunkUnits) of two
// panels of `all` units to `to`, or stores it when it is the first.
inline void sum_chunk(const std::byte* a, const std::byte* b, std::uint64_t first, std::uint64_t units,
                      std::uint64_t all, Ahead ahead, Sums& to) {
    alignas(64) std::int32_t pairs[kRows * kCols];
    const std::byte* starts = b + all * kUnitBytesB + first / kChunkUnits * kCols * 4;
    a += first * kUnitBytesA;
    b += first * kUnitBytesB;
    sum_pairs(a, b, units, ahead.a, pairs);
    sum_bytes(a, b, units, starts, pairs, first == 0, ahead.b, to);
}
