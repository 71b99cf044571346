// SPDX-License-Identifier: Apache-2.0
// CpuOptions says how a processor computes. Only the processor's device reads it.
#pragma once

#include "trainer/host/targets.hpp"

namespace assay::trainer {

class Arena;

struct CpuOptions {
    Target target = Target::kScalar;  ///< its kernels; REQUIRES one that this machine has
    Arena* arena = nullptr;           ///< memory of steps; must outlive the device. Null: the heap
};

}  // namespace assay::trainer
