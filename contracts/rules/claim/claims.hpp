// SPDX-License-Identifier: Apache-2.0
// Opens and closes claims, for the rules. The money of a claim stays in its bucket: a bond is bonded stake,
// and held pay is escrow. Internal to the rules.
#pragma once

#include "contracts/rules/claim/tables.hpp"

namespace assay::contracts {

/// Stores the claim, which from now on holds its bond and its pay. The caller has locked the bond and taken
/// the pay out of the job's escrow. REQUIRES that no claim has this name.
void open_claim(State& state, const ClaimId& id, const Claim& claim);

/// Removes the claim and returns it; the caller pays, returns or forfeits what it held. REQUIRES that it is
/// open, and that its window is no longer in the index (window_ends.hpp).
Claim close_claim(State& state, const ClaimId& id);

}  // namespace assay::contracts
