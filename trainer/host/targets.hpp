// SPDX-License-Identifier: Apache-2.0
// Gives devices and commands the targets, which kernels run. Every target gives the same bits; they differ
// in speed only. A vector target is compiled only when its multiply-add is fused, as the law of numerics
// demands; below AVX2 the scalar definition runs. A processor that has a target has those named before it
// too, as far as they are of its kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::trainer {

/// Ascending speed. A target names the best instruction set in use: the kernels of profile f32 are AVX2's
/// under kAvxVnni and AVX-512's under kVnni and kAmx, which differ in the exact integer products.
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

/// The device that ASSAY_TARGETS names: "cuda-host", a GPU's kernels emulated; else "cpu", whose kernels it
/// restricts. A device that is named otherwise (--device) goes before.
std::string device_from_environment();

/// Value of ASSAY_THREADS; 1 when it is not set. kUsage unless it is a number from 1 to 256.
base::Outcome<int> threads_from_environment();

}  // namespace assay::trainer
