// SPDX-License-Identifier: Apache-2.0
// Confines assay-worker: what it gives up before it reads its first frame.
#pragma once

#include "contracts/base/error.hpp"

namespace assay::worker {

/// Dies with the parent; no new privileges through exec; no core files (they would hold a buyer's data); no
/// descriptors but 0, 1, 2 and `socket`; a network namespace without interfaces where the kernel lets an
/// ordinary process have one. REQUIRES a single-threaded process. Only what every Linux grants can fail.
base::Outcome<void> confine(int socket);

}  // namespace assay::worker
