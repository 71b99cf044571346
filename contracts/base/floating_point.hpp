// SPDX-License-Identifier: Apache-2.0
// Gives whoever computes the floating-point mode of the law: round to nearest even, denormals kept, no
// exception traps, nothing of a processor's own. It belongs to a thread, and any library may change it at
// any time: who computes asks before and after.
#pragma once

#include <cstdint>
#include <string>

#include "contracts/base/error.hpp"

namespace assay::base {

/// Bits of the calling thread's control register (MXCSR, FPCR) that are not as the law has them; 0: lawful.
std::uint64_t floating_point_faults();

/// The same of a register's value. MXCSR: Intel SDM volume 1, section 10.2.3. FPCR: Arm Architecture
/// Reference Manual for A-profile (DDI 0487), register FPCR; FIZ, AH and NEP came with FEAT_AFP.
std::uint64_t mxcsr_faults(std::uint32_t mxcsr);
std::uint64_t fpcr_faults(std::uint64_t fpcr);

/// The names of such bits, "FTZ (denormal results become zero), …", of MXCSR and of FPCR.
std::string mxcsr_fault_text(std::uint64_t faults);
std::string fpcr_fault_text(std::uint64_t faults);

/// kPreflight, naming the bits of this processor's register, when there are any: this machine's own failure,
/// of which nobody else is to be accused.
Outcome<void> refuse_floating_point(std::uint64_t faults);

}  // namespace assay::base
