// SPDX-License-Identifier: Apache-2.0
// Sums of products of 16-bit pairs, in 32 bits that wrap around. Included once per target inside its
// namespace, after tile_vectors-inl.hpp and dot_pairs() and before the tile that lays out the units: no
// guard.

// Sums over `units` units of so many bytes each. The pairs are at the start of a unit. Prefetches `next` into
// the nearest cache.
template <std::uint64_t kUnitBytesOfA, std::uint64_t kUnitBytesOfB>
[[gnu::noinline]] inline void sum_pairs(const std::byte* a, const std::byte* b, std::uint64_t units,
                                        const std::byte* next, std::int32_t* out) {
    I sum[kRows][kVectors];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] = set(0);
    }
    for (; units > 0; --units, a += kUnitBytesOfA, b += kUnitBytesOfB, next += kUnit / 2 * 64) {
        for (std::size_t t = 0; t < kUnit / 2; ++t) {
            __builtin_prefetch(next + t * 64);
            I column[kVectors];
#pragma GCC unroll 4
            for (std::size_t v = 0; v < kVectors; ++v) column[v] = load(b + (t * kCols + v * kL) * 4);
#pragma GCC unroll 16
            for (std::size_t i = 0; i < kRows; ++i) {
                const I row = word(a + i * kUnit * 2 + t * 4);
#pragma GCC unroll 4
                for (std::size_t v = 0; v < kVectors; ++v) dot_pairs(sum[i][v], row, column[v]);
            }
        }
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) store(out + i * kCols + v * kL, sum[i][v]);
    }
}
