// SPDX-License-Identifier: Apache-2.0
// Multiplication by two dot products of 16-bit pairs: the 16-bit numbers of A with the low digits of B, and
// with its high digits, each widened to 16 bits. Both sums are exact in 32 bits for a chunk of k.
//
// A unit of A: kRows rows of kUnit 16-bit numbers. A unit of B: for each pair of k the low digits of kCols
// columns, then the same for the high digits. Included once per target inside its namespace, between
// tile_pairs-inl.hpp and pack: no guard.

inline constexpr std::uint64_t kChunk = 256;
inline constexpr std::uint64_t kChunkUnits = kChunk / kUnit;
static_assert(kChunk * 32'639 * 128 < (1ULL << 31U));
inline constexpr std::uint64_t kUnitBytesA = kRows * kUnit * 2;
inline constexpr std::uint64_t kUnitBytesB = kCols * kUnit * 4;
inline constexpr std::uint64_t kHighAt = kCols * kUnit * 2;  // where the high digits of a unit of B start

inline std::uint64_t a_panel_bytes(std::uint64_t depth) { return units_of(depth) * kUnitBytesA; }
inline std::uint64_t b_panel_bytes(std::uint64_t depth) { return units_of(depth) * kUnitBytesB; }

inline void emit_a(const std::int32_t* numbers, std::byte* unit, std::uint64_t row) {
    __builtin_memcpy(unit + row * kUnit * 2, numbers, kUnit * 2);
}

inline void emit_part(const std::int32_t* numbers, std::byte* unit, std::uint64_t row) {
    emit_a(numbers, unit, row);
}

inline void emit_b(const std::int32_t* pairs, std::byte* unit, std::uint64_t column) {
    std::byte* out = unit + column * 4;
    const I half = set(0x00800080);
    for (std::size_t t = 0; t < kUnit / 2; ++t) {
        const I x = load(pairs + t * kL);
        store(out + t * kCols * 4, shift_right16<8>(shift_left16<8>(x)));
        store(out + kHighAt + t * kCols * 4, shift_right16<8>(add16(x, half)));
    }
}

inline void complete_b(std::byte* /*panel*/, std::uint64_t /*units*/) {}

// Recovers the numbers of B from both halves.
inline I column_pairs(const std::byte* p) { return add16(shift_left16<8>(load(p + kHighAt)), load(p)); }

// Adds the sum over `units` <= kChunkUnits units of two panels from unit `first` on (a multiple of
// kChunkUnits) to `to`, or stores it when it is the first.
inline void sum_chunk(const std::byte* a, const std::byte* b, std::uint64_t first, std::uint64_t units,
                      std::uint64_t /*all*/, Ahead ahead, Sums& to) {
    alignas(64) std::int32_t low[kRows * kCols], high[kRows * kCols];
    a += first * kUnitBytesA;
    b += first * kUnitBytesB;
    sum_pairs<kUnitBytesA, kUnitBytesB>(a, b, units, ahead.a, low);
    sum_pairs<kUnitBytesA, kUnitBytesB>(a, b + kHighAt, units, ahead.b, high);
    for (std::size_t at = 0; at < kRows * kCols; at += kL) {
        const I l = load(low + at), h = load(high + at);
        I hi = add(shift_right<8>(h), shift_right<16>(l));
        I lo = add(shift_left<8>(bit_and(h, set(0xff))), bit_and(l, set(0xffff)));
        if (first != 0) hi = add(hi, load(to.hi + at)), lo = add(lo, load(to.lo + at));
        store(to.hi + at, hi);
        store(to.lo + at, lo);
    }
}
