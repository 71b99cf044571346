// SPDX-License-Identifier: Apache-2.0
// AVX2: 8 lanes, products of 16-bit pairs.
#include "trainer/cpu/integer/machines.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "contracts/arithmetic/exact_product.hpp"
#include "trainer/cpu/integer/target.hpp"

ASSAY_TARGET_BEGIN("avx2,fma")
namespace assay::trainer::integer {
namespace avx2 {

inline constexpr std::size_t kRows = 6;
inline constexpr std::size_t kCols = 16;
inline constexpr bool kHoldsHigh = false;
inline constexpr std::size_t kWideRows = 3;  // at a time, with two sums each
inline constexpr int kWideUnroll = 16;       // pairs of k

#include "trainer/cpu/integer/lanes256-inl.hpp"

/// In place: left to itself GCC 12 keeps a sum in memory and copies others, once for each pair of k.
inline void dot_pairs(I& sum, I a, I b) {
    const I products = _mm256_madd_epi16(a, b);
    asm("vpaddd %1, %0, %0" : "+x"(sum) : "x"(products));
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

}  // namespace avx2

const Machine& avx2_machine() { return avx2::machine(); }

}  // namespace assay::trainer::integer
ASSAY_TARGET_END
#endif
