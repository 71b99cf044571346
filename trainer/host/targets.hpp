// SPDX-License-Identifier: Apache-2.0
// Targets: the sets of instructions for which the processor's kernels are compiled. Every target gives the
// same bits; they differ only in speed. A vector target is compiled only when its multiply-add is fused, as
// the law of numerics demands; below AVX2 the scalar definition runs. A processor with a target also has the
// earlier ones of its architecture, except AVX-VNNI, which many processors with AVX-512 lack.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::trainer {

/// Ascending speed. A target names the best instruction set in use. kAvxVnni differs from kAvx2, and kVnni
/// and kAmx from kAvx512, only in the exact integer products; the kernels of profile f32 are the same.
enum class Target { kScalar = 0, kNeon = 1, kAvx2 = 2, kAvxVnni = 3, kAvx512 = 4, kVnni = 5, kAmx = 6 };

/// "scalar", "neon", "avx2", "avxvnni", "avx512", "vnni", "amx": the words of ASSAY_TARGETS.
std::string_view to_text(Target target);

/// Words of the targets that this machine can run, fastest first; "scalar" is always the last.
std::vector<std::string> machine_targets();

/// The fastest target of this machine among those that `restriction` names (comma list, as ASSAY_TARGETS
/// has it; empty: any). kUsage for a word that names no target, kPreflight for one that this machine lacks.
base::Outcome<Target> choose_target(std::string_view restriction);

/// Value of ASSAY_TARGETS; empty when it is not set, or names a device.
std::string targets_from_environment();

/// The device that ASSAY_TARGETS names: "cuda-host" (a GPU's kernels, emulated), else "cpu", whose targets it
/// restricts. A device named with --device takes precedence.
std::string device_from_environment();

/// Value of ASSAY_THREADS; 1 when it is not set. kUsage unless it is a number from 1 to 256.
base::Outcome<int> threads_from_environment();

}  // namespace assay::trainer
