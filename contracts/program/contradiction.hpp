// SPDX-License-Identifier: Apache-2.0
// The unit roots of a claim that contradicts itself, for verifiers and auditors: every verifier posts the
// same root when nothing can be recomputed from the miner's claim.
#pragma once

#include "contracts/base/hash.hpp"

namespace assay::program {

using base::Hash256;

/// The root that a verifier posts for each unit of a run whose served start has the opened root but is not
/// possible at that boundary: it has another step count or data cursor, or a number that is not finite. No
/// segment or update is computed from such a start, so the root names only the boundary:
/// H("assay/unit/misplaced", boundary root). Every verifier that is served those bytes posts the same root,
/// and no trace can claim it.
Hash256 misplaced_unit_root(const Hash256& boundary);

}  // namespace assay::program
