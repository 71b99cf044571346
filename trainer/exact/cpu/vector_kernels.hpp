// SPDX-License-Identifier: Apache-2.0
// Highway kernels of the targets whose multiply-add is fused. Highway's MulAdd is a multiply and an add on
// SSE, EMU128 and SCALAR, so those are never compiled: there the definition runs.
#pragma once

#include "trainer/exact/cpu/kernels.hpp"

namespace assay::trainer {

/// True when this build has the target's kernels and this processor and system can run them.
bool machine_has(Target target);

/// REQUIRES a vector target for which machine_has() holds.
const Kernels& vector_kernels(Target target);

}  // namespace assay::trainer
