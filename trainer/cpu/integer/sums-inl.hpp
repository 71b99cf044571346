// SPDX-License-Identifier: Apache-2.0
// The sums of a tile's outputs, as they are kept between chunks of k. Included once per target inside its
// namespace, before the tiles: no guard.

struct Sums {
    // The sum is hi · 2^16 + lo, lo >= 0; where runs are added (tile_runs-inl.hpp), lo < 2^16; of a 24-bit
    // operand (tile_wide-inl.hpp) hi · 2^22 + lo, lo < 2^22.
    alignas(64) std::int32_t hi[kRows * kCols];
    alignas(64) std::int32_t lo[kRows * kCols];
};
