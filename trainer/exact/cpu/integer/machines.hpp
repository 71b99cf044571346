// SPDX-License-Identifier: Apache-2.0
// The instruction sets that multiply exact integers. Each REQUIRES a processor that has it.
#pragma once

#include "trainer/exact/cpu/integer/machine.hpp"

namespace assay::trainer::integer {

const Machine& vnni_machine();  ///< AVX-512 with VNNI

}  // namespace assay::trainer::integer
