// SPDX-License-Identifier: Apache-2.0
// Gives roles who opens calls to whom because a miner accepts no connection (node/seams/outward.hpp).
#pragma once

#include <set>
#include <vector>

#include "contracts/rules/state/state.hpp"
#include "node/seams/outward.hpp"

namespace assay::node {

/// The verifiers of the jobs on whose rosters `me` is, ascending: to these a miner opens its calls.
std::vector<OutwardPeer> outward_peers(const contracts::StateView& state, const base::PublicKey& me);

/// The miners of the jobs for which `me` is enlisted that say on the ledger, each of itself, that they accept
/// no connection: of these a verifier takes calls.
std::set<base::PublicKey> outward_miners(const contracts::StateView& state, const base::PublicKey& me);

}  // namespace assay::node
