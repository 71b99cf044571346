// SPDX-License-Identifier: Apache-2.0
// The common code of tiles on vectors: they multiply a vector of columns by a word of a row, which is
// broadcast to all lanes. Included once per target inside its namespace, after lanes and before a tile: no
// guard.

inline constexpr std::size_t kVectors = kCols / kL;

// Two numbers of 16 bits or four bytes.
inline I word(const std::byte* p) {
    std::int32_t bits;
    __builtin_memcpy(&bits, p, 4);
    return set(bits);
}

// Adds to the sums of each row the products of its word, at a + i · row_bytes, with the columns at b. `dot`
// is the machine's dot_pairs or dot_bytes.
template <class Dot>
inline void add_products(const std::byte* a, std::uint64_t row_bytes, const std::byte* b, const Dot& dot,
                         I (&sum)[kRows][kVectors]) {
    I column[kVectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v) column[v] = load(b + v * kL * 4);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
        const I row = word(a + i * row_bytes);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) dot(sum[i][v], row, column[v]);
    }
}

// The products of a chunk of a tile. With `a_lower`, A is a 24-bit operand. `OfTile` is always Sums; as a
// template argument it delays the look-up of the functions that add up to where this is used.
template <class OfTile>
inline void sum_tile(const std::byte* a, const std::byte* a_lower, const std::byte* b, std::uint64_t first,
                     std::uint64_t units, std::uint64_t all, Ahead ahead, OfTile& sums, OfTile& lowest) {
    if (a_lower != nullptr) {
        sum_wide_chunk(a, a_lower, b, first, units, all, ahead, sums, lowest);
    } else {
        sum_chunk(a, b, first, units, all, ahead, sums);
    }
}
