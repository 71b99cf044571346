// SPDX-License-Identifier: Apache-2.0
// AVX-512 with VNNI, 16 lanes: two ways to multiply.
#include "trainer/cpu/integer/machines.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "contracts/arithmetic/exact_product.hpp"
#include "trainer/cpu/integer/target.hpp"

namespace assay::trainer::integer {
bool prefers_runs() { return __builtin_cpu_is("amd") != 0; }
}  // namespace assay::trainer::integer

ASSAY_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")
namespace assay::trainer::integer {

namespace vnni_runs {
// 12 sums and as many upper ones, two columns and a word of a row: 27 of 32 registers.
inline constexpr std::size_t kRows = 6;
inline constexpr bool kHoldsHigh = true;
inline constexpr std::size_t kWideRows = 3;
#include "trainer/cpu/integer/vnni-inl.hpp"

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
}  // namespace vnni_runs

namespace vnni_bytes {
inline constexpr std::size_t kRows = 12;  // 24 sums, two columns and a word of a row: 27 of 32 registers
inline constexpr std::size_t kWideRows = 4;
#include "trainer/cpu/integer/vnni-inl.hpp"

inline void dot_bytes(I& sum, I a, I b) { asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b)); }

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
}  // namespace vnni_bytes

const Machine& vnni_runs_machine() { return vnni_runs::machine(); }
const Machine& vnni_bytes_machine() { return vnni_bytes::machine(); }

}  // namespace assay::trainer::integer
ASSAY_TARGET_END
#endif
