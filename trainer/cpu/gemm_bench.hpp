// SPDX-License-Identifier: Apache-2.0
// The processor's matrix products without anything else, for `assay bench gemm` (through trainer/devices).
#pragma once

#include <functional>

#include "contracts/program/job_spec.hpp"
#include "trainer/host/targets.hpp"
#include "trainer/step/gemm.hpp"

namespace assay::trainer {

/// make_gemm_bench() of trainer/devices, on `threads` threads. REQUIRES a target that this machine has.
std::function<void()> make_cpu_gemm(Target target, int threads, program::Profile profile, GemmShape shape,
                                    GemmKind kind);

}  // namespace assay::trainer
