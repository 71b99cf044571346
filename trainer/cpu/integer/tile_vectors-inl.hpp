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

// Nothing to prepare: see tiles.hpp.
struct Registers {
    static void enter() {}
    static void leave() {}
};

// Sums are complete after the products of a chunk, so nothing is added up later (compare tile_amx-inl.hpp).
struct DigitSums {
    static constexpr bool kAddedLater = false;
};
inline void add_row(const DigitSums& /*from*/, std::size_t /*row*/, bool /*first*/, bool /*wide*/,
                    Sums& /*to*/, Sums& /*lowest*/) {}

// The products of a chunk of a tile. With `a_lower`, A is a 24-bit operand. `rest_before` finishes the work
// that is left of the tile before. `OfTile` is always Sums; as a template argument it delays the look-up of
// the functions that add up to where this is used.
template <class Row, class Rest, class OfTile>
inline void sum_tile(const std::byte* a, const std::byte* a_lower, const std::byte* b, std::uint64_t first,
                     std::uint64_t units, std::uint64_t all, Ahead ahead, const Row& /*row_before*/,
                     const Rest& rest_before, DigitSums& /*digits*/, OfTile& sums, OfTile& lowest) {
    rest_before();
    if (a_lower != nullptr) {
        sum_wide_chunk(a, a_lower, b, first, units, all, ahead, sums, lowest);
    } else {
        sum_chunk(a, b, first, units, all, ahead, sums);
    }
}
