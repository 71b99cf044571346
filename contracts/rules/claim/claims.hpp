// SPDX-License-Identifier: Apache-2.0
// Gives the rules the opening and closing of claims. The money of a claim stays in its bucket: a bond is
// bonded stake, what is held is escrow. Internal to the rules.
#pragma once

#include "contracts/rules/claim/tables.hpp"

namespace assay::contracts {

/// From here on the claim holds its bond and its pay. The caller has locked the one and taken the other out
/// of the job's escrow. REQUIRES that no claim has this name.
void open_claim(State& state, const ClaimId& id, const Claim& claim);

/// Ends it, and hands what it held to the caller: to pay, to return or to forfeit. REQUIRES that it is open,
/// and that its window is noted no more (window_ends.hpp).
Claim close_claim(State& state, const ClaimId& id);

}  // namespace assay::contracts
