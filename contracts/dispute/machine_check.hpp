// SPDX-License-Identifier: Apache-2.0
// Gives whoever executes the ledger's blocks the check that this machine, build and thread compute as the
// referee must: the floating-point control word, operations with known answers, and the partials of every
// operator of tiny steps of both families in both profiles, of an update, a merge and a clip.
#pragma once

#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"

namespace assay::dispute {

/// Of the calling thread. kPreflight names what differs and says what to do: nobody else is to be accused of
/// it, and nothing that this process judges may be signed or stored.
base::Outcome<void> check_machine();

/// The control word alone: one read of a register. As check_machine().
base::Outcome<void> check_thread();

/// Hash of all partials that check_machine() computes.
base::Hash256 referee_digest();

}  // namespace assay::dispute
