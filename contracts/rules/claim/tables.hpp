// SPDX-License-Identifier: Apache-2.0
// Gives rules and readers of the state the keys and readers of open claims.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes claim_key(const ClaimId& id);
/// The claim of a key of the table; nothing when it is none.
std::optional<ClaimId> claim_of(ByteView key);

std::optional<Claim> read_claim(const StateView& state, const ClaimId& id);
/// All open claims of a job, ascending by key.
std::vector<std::pair<ClaimId, Claim>> list_claims(const StateView& state, const Hash256& job);

}  // namespace assay::contracts
