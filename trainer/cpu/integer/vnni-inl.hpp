// SPDX-License-Identifier: Apache-2.0
// What both ways to multiply with AVX-512 VNNI (vnni.cpp) have: lanes, and the product of pairs. No guard.

inline constexpr std::size_t kCols = 32;
inline constexpr int kWideUnroll = 16;  // pairs of k

#include "trainer/cpu/integer/lanes512-inl.hpp"

// As assembly, because GCC 12 keeps accumulators of the intrinsics on the stack.
inline void dot_pairs(I& sum, I a, I b) { asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b)); }
