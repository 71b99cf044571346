// SPDX-License-Identifier: Apache-2.0
// CpuOptions are the options of the processor's device. No other device reads them.
#pragma once

#include "trainer/host/targets.hpp"

namespace assay::trainer {

class Arena;

struct CpuOptions {
    Target target = Target::kScalar;  ///< its kernels; REQUIRES one that this machine has
    Arena* arena = nullptr;           ///< memory for steps; must outlive the device. Null: the heap
};

}  // namespace assay::trainer
