// SPDX-License-Identifier: Apache-2.0
// Gives verifiers and auditors the unit roots of a claim that contradicts itself: what two verifiers post
// alike where nothing can be recomputed from what the miner has claimed.
#pragma once

#include "contracts/base/hash.hpp"

namespace assay::program {

using base::Hash256;

/// What a verifier posts for a unit whose start was served with the claimed boundary's root and cannot stand
/// at that boundary: another step count or data cursor, or a number that is not finite. No segment or update
/// is computed from it, so that the root names the boundary alone, H("assay/unit/misplaced", boundary root):
/// every verifier that is served those bytes posts the same, and no trace can claim it.
Hash256 misplaced_unit_root(const Hash256& boundary);

/// What a verifier posts for `finalise` when everything in it is as claimed and the reveal names another file
/// for it: H("assay/unit/misnamed", blob id of the right file). Of two files that are misnamed the first
/// counts: the update, then, in jobs that carry, the slot state at the last boundary. What was accepted can
/// therefore be had under the name that its reveal gives, from whoever has computed it.
Hash256 misnamed_unit_root(const Hash256& right_blob);

}  // namespace assay::program
