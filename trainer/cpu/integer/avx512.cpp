// SPDX-License-Identifier: Apache-2.0
// AVX-512 without VNNI: 16 lanes, products of 16-bit pairs.
#include "trainer/cpu/integer/machines.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "contracts/arithmetic/exact_product.hpp"
#include "trainer/cpu/integer/target.hpp"

ASSAY_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
namespace assay::trainer::integer {
namespace avx512 {

inline constexpr std::size_t kRows = 6;
inline constexpr std::size_t kCols = 32;
inline constexpr bool kHoldsHigh = true;
inline constexpr std::size_t kWideRows = 3;  // at a time, with two sums each
inline constexpr int kWideUnroll = 1;        // pairs of k: unrolled, GCC 12 keeps sums on the stack

#include "trainer/cpu/integer/lanes512-inl.hpp"

// The addition is assembly, because GCC 12 adds to a copy of some sums.
inline void dot_pairs(I& sum, I a, I b) {
    const I products = _mm512_madd_epi16(a, b);
    asm("vpaddd %1, %0, %0" : "+v"(sum) : "v"(products));
}

// Each builds on those before it.
// clang-format off
#include "trainer/cpu/integer/sums-inl.hpp"
#include "trainer/cpu/integer/tile_vectors-inl.hpp"
#include "trainer/cpu/integer/tile_runs-inl.hpp"
#include "trainer/cpu/integer/tile_wide-inl.hpp"
#include "trainer/cpu/integer/pack-inl.hpp"
#include "trainer/cpu/integer/finish-inl.hpp"
#include "trainer/cpu/integer/multiply-inl.hpp"
#include "trainer/cpu/integer/machine-inl.hpp"
// clang-format on

}  // namespace avx512

const Machine& avx512_machine() { return avx512::machine(); }

}  // namespace assay::trainer::integer
ASSAY_TARGET_END
#endif
