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

const Machine& avx2_machine();        ///< AVX2 and FMA
const Machine& avx_vnni_machine();    ///< those and AVX-VNNI
const Machine& avx512_machine();      ///< AVX-512 F, BW, DQ, VL
const Machine& vnni_runs_machine();   ///< those and VNNI; sums of runs of pairs (tile_runs-inl.hpp)
const Machine& vnni_bytes_machine();  ///< the same; sums of pairs and of bytes (tile_modular-inl.hpp)
const Machine& amx_machine();         ///< AVX-512 and AMX-INT8, which the system has granted
/// Whether this x86 processor with VNNI multiplies by runs. AMD's do: Zen 5 adds, shifts and masks
/// vectors beside dot products, and Zen 4 should. Intel's with AVX-512 do both on the same two units
/// (decision 104).
bool prefers_runs();

}  // namespace assay::trainer::integer
