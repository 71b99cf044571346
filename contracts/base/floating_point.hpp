// SPDX-License-Identifier: Apache-2.0
// The floating-point mode of the law: round to nearest even, denormals kept, no exception traps, no
// processor-specific modes. The mode belongs to a thread, and any library may change it at any time, so code
// checks it before and after computing.
#pragma once

#include <cstdint>
#include <string>

#include "contracts/base/error.hpp"

namespace assay::base {

/// The bits of the calling thread's control register (MXCSR, FPCR) that differ from the law; 0 when none
/// does.
std::uint64_t floating_point_faults();

/// The same of a register's value. MXCSR: Intel SDM volume 1, section 10.2.3. FPCR: Arm Architecture
/// Reference Manual for A-profile (DDI 0487), register FPCR; FIZ, AH and NEP came with FEAT_AFP.
std::uint64_t mxcsr_faults(std::uint32_t mxcsr);
std::uint64_t fpcr_faults(std::uint64_t fpcr);

/// The names of such bits, "FTZ (denormal results become zero), …", of MXCSR and of FPCR.
std::string mxcsr_fault_text(std::uint64_t faults);
std::string fpcr_fault_text(std::uint64_t faults);

/// Fails with kPreflight, which names the bits of this processor's register, when there are any. This is a
/// fault of this machine; nobody else may be accused because of it.
Outcome<void> refuse_floating_point(std::uint64_t faults);

}  // namespace assay::base
