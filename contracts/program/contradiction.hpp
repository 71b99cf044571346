// SPDX-License-Identifier: Apache-2.0
// Gives verifiers and auditors the unit roots of a claim that contradicts itself: what every
// verifier posts alike where nothing can be recomputed from what the miner has claimed.
#pragma once

#include "contracts/base/hash.hpp"

namespace assay::program {

using base::Hash256;

/// What a verifier posts for each unit of a run whose start was served with the opened root and cannot stand
/// at that boundary: another step count or data cursor, or a number that is not finite. No segment or update
/// is computed from it, so that the root names the boundary alone, H("assay/unit/misplaced", boundary root):
/// every verifier that is served those bytes posts the same, and no trace can claim it.
Hash256 misplaced_unit_root(const Hash256& boundary);

}  // namespace assay::program
