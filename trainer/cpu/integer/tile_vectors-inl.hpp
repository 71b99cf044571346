// SPDX-License-Identifier: Apache-2.0
// What the tiles on vectors have in common: a vector of columns against a word of a row, which is spread over
// all lanes. Included once per target inside its namespace, after lanes and before a tile: no guard.

inline constexpr std::size_t kVectors = kCols / kL;

// Nothing to prepare: see tiles.hpp.
struct Registers {
    static void enter() {}
    static void leave() {}
};

// Two numbers of 16 bits or four bytes.
inline I word(const std::byte* p) {
    std::int32_t bits;
    __builtin_memcpy(&bits, p, 4);
    return set(bits);
}
