// SPDX-License-Identifier: Apache-2.0
// AVX-512 with VNNI: both dot products, 16 lanes, with tiles of two heights.
#include "trainer/cpu/integer/machines.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "contracts/arithmetic/exact_product.hpp"
#include "trainer/cpu/integer/target.hpp"

namespace assay::trainer::integer {
bool prefers_tall_tiles() { return __builtin_cpu_is("amd") == 0; }
}  // namespace assay::trainer::integer

ASSAY_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")
namespace assay::trainer::integer {
namespace vnni {
inline constexpr std::size_t kRows = 8;
#include "trainer/cpu/integer/vnni-inl.hpp"
}  // namespace vnni

namespace vnni_tall {
inline constexpr std::size_t kRows = 12;  // 24 sums, two columns and a word of a row: 27 of 32 registers
#include "trainer/cpu/integer/vnni-inl.hpp"
}  // namespace vnni_tall

const Machine& vnni_machine() { return vnni::machine(); }
const Machine& vnni_tall_machine() { return vnni_tall::machine(); }

}  // namespace assay::trainer::integer
ASSAY_TARGET_END
#endif
