// SPDX-License-Identifier: Apache-2.0
// Which targets this processor and system can run, and which floating-point kernels each target uses.
// Highway's MulAdd is a separate multiply and add on SSE, EMU128 and SCALAR, so kernels for these are never
// compiled; the scalar definition runs instead.
#pragma once

#include "trainer/host/targets.hpp"

namespace assay::trainer {

/// True when this build has the target's kernels and this processor and system can run them. The first call
/// for AMX asks the system for its registers, for the whole process.
bool machine_has(Target target);

/// The instruction sets for which the floating-point kernels are compiled.
enum class FloatSet { kScalar, kNeon, kAvx2, kAvx512 };
FloatSet float_set(Target target);

}  // namespace assay::trainer
