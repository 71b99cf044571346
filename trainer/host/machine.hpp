// SPDX-License-Identifier: Apache-2.0
// Gives devices what this processor and system can run, and which kernels each target names. Highway's
// MulAdd is a multiply and an add on SSE, EMU128 and SCALAR, so those are never compiled: there the
// definition runs.
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
