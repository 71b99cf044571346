// SPDX-License-Identifier: Apache-2.0
// The instruction sets that multiply exact integers. Each REQUIRES a processor that has it.
#pragma once

#include "trainer/cpu/integer/machine.hpp"

namespace assay::trainer::integer {

const Machine& plain_machine();     ///< any processor
const Machine& neon_machine();      ///< AArch64
const Machine& neon_dot_machine();  ///< those and the dot product of bytes
/// Whether this AArch64 processor has the dot product of bytes.
bool has_dot_products();

const Machine& avx2_machine();       ///< AVX2 and FMA
const Machine& avx_vnni_machine();   ///< those and AVX-VNNI
const Machine& avx512_machine();     ///< AVX-512 F, BW, DQ, VL
const Machine& vnni_machine();       ///< those and VNNI; tiles of 8 rows
const Machine& vnni_tall_machine();  ///< the same; tiles of 12 rows
const Machine& amx_machine();        ///< AVX-512 and AMX-INT8, which the system has granted
/// Whether this x86 processor gets VNNI's tiles of 12 rows. All but AMD's do: on Intel's Cascade Lake
/// products took 2 to 12 % less time with 12 rows than with 8, on AMD's Zen 4 a step took 2 % more (decision
/// 95).
bool prefers_tall_tiles();

}  // namespace assay::trainer::integer
