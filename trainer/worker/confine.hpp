// SPDX-License-Identifier: Apache-2.0
// What assay-worker gives up before it reads its first frame.
#pragma once

#include "contracts/base/error.hpp"

namespace assay::trainer::worker {

/// Dies with the parent; no new privileges through exec; no core files (they would hold a buyer's data); no
/// descriptors but 0, 1, 2 and `socket`; a network namespace without interfaces where the kernel lets an
/// ordinary process have one. REQUIRES a single-threaded process. Only what every Linux grants can fail.
base::Outcome<void> confine(int socket);

/// Rounding to nearest and denormals kept (x86 MXCSR, Arm FPCR) in the calling thread; kPreflight when some
/// library has changed them, because then no bit of this process can be relied on.
base::Outcome<void> check_floating_point_mode();

}  // namespace assay::trainer::worker
