// SPDX-License-Identifier: Apache-2.0
// AMX-INT8 with AVX-512.
#include "trainer/cpu/integer/machines.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "contracts/arithmetic/exact_product.hpp"
#include "trainer/cpu/integer/target.hpp"
#include "trainer/cpu/integer/tiles.hpp"

ASSAY_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
namespace assay::trainer::integer {
namespace amx {
using Registers = Tiles;
#include "trainer/cpu/integer/amx-inl.hpp"
}  // namespace amx

const Machine& amx_machine() { return amx::machine(); }

}  // namespace assay::trainer::integer
ASSAY_TARGET_END
#endif
