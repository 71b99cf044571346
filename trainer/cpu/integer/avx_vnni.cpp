// SPDX-License-Identifier: Apache-2.0
// AVX2 with AVX-VNNI: both dot products, 8 lanes.
#include "trainer/cpu/integer/machines.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "contracts/arithmetic/exact_product.hpp"
#include "trainer/cpu/integer/target.hpp"

ASSAY_TARGET_BEGIN("avx2,fma,avxvnni")
namespace assay::trainer::integer {
namespace avx_vnni {

inline constexpr std::size_t kRows = 6;
inline constexpr std::size_t kCols = 16;
inline constexpr std::size_t kWideRows = 3;  // at a time, with two sums each
inline constexpr int kWideUnroll = 16;       // pairs of k

#include "trainer/cpu/integer/lanes256-inl.hpp"

// As assembly, because GCC 12 keeps accumulators of the intrinsics on the stack.
inline void dot_pairs(I& sum, I a, I b) { asm("%{vex%} vpdpwssd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b)); }
inline void dot_bytes(I& sum, I a, I b) { asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b)); }

// Each builds on those before it.
// clang-format off
#include "trainer/cpu/integer/sums-inl.hpp"
#include "trainer/cpu/integer/tile_vectors-inl.hpp"
#include "trainer/cpu/integer/tile_modular-inl.hpp"
#include "trainer/cpu/integer/tile_wide-inl.hpp"
#include "trainer/cpu/integer/pack-inl.hpp"
#include "trainer/cpu/integer/finish-inl.hpp"
#include "trainer/cpu/integer/multiply-inl.hpp"
#include "trainer/cpu/integer/machine-inl.hpp"
// clang-format on

}  // namespace avx_vnni

const Machine& avx_vnni_machine() { return avx_vnni::machine(); }

}  // namespace assay::trainer::integer
ASSAY_TARGET_END
#endif
