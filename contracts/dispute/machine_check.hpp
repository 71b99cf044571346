// SPDX-License-Identifier: Apache-2.0
// Checks that this machine, build and thread compute as the referee must, before they execute the ledger's
// blocks. It tests the floating-point control word, operations with known answers, and the partials of every
// operator of tiny steps of both families in both profiles, of an update, a merge and a clip.
#pragma once

#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"

namespace assay::dispute {

/// Checks the calling thread. The error kPreflight names what differs and says what to do. Nobody else may be
/// accused because of it, and no judgement of this process may be signed or stored.
base::Outcome<void> check_machine();

/// Checks only the control word, with one read of a register. Errors as for check_machine().
base::Outcome<void> check_thread();

/// Hash of all partials that check_machine() computes.
base::Hash256 referee_digest();

}  // namespace assay::dispute
