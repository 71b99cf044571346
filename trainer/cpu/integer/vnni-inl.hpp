// SPDX-License-Identifier: Apache-2.0
// The AVX-512 VNNI machine without its name and the height of its tiles: the file that includes this one
// defines kRows. No guard.

inline constexpr std::size_t kCols = 32;
inline constexpr std::size_t kWideRows = 4;  // at a time, with two sums each
inline constexpr int kWideUnroll = 16;       // pairs of k

#include "trainer/cpu/integer/lanes512-inl.hpp"

// As assembly, because GCC 12 keeps accumulators of the intrinsics on the stack.
inline void dot_pairs(I& sum, I a, I b) { asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b)); }
inline void dot_bytes(I& sum, I a, I b) { asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b)); }

// Each builds on those before it.
// clang-format off
#include "trainer/cpu/integer/sums-inl.hpp"
#include "trainer/cpu/integer/tile_vectors-inl.hpp"
#include "trainer/cpu/integer/tile_pairs-inl.hpp"
#include "trainer/cpu/integer/tile_modular-inl.hpp"
#include "trainer/cpu/integer/tile_wide-inl.hpp"
#include "trainer/cpu/integer/pack-inl.hpp"
#include "trainer/cpu/integer/multiply-inl.hpp"
// clang-format on
