// SPDX-License-Identifier: Apache-2.0
// AVX-512 with VNNI: both dot products, 16 lanes.
#include "trainer/cpu/integer/machines.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "contracts/arithmetic/exact_product.hpp"
#include "trainer/cpu/integer/target.hpp"

ASSAY_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")
namespace assay::trainer::integer {
namespace vnni {

inline constexpr std::size_t kRows = 12;  // 24 sums, two columns and a word of a row
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

}  // namespace vnni

const Machine& vnni_machine() { return vnni::machine(); }

}  // namespace assay::trainer::integer
ASSAY_TARGET_END
#endif
