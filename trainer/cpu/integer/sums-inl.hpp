// SPDX-License-Identifier: Apache-2.0
// The sums of a tile's outputs, as they are kept between chunks of k. Included once per target inside its
// namespace, before the tiles: no guard.

struct Sums {
    alignas(64) std::int32_t hi[kRows * kCols];  // the sum is hi · 2^16 + lo, lo >= 0
    alignas(64) std::int32_t lo[kRows * kCols];
};
