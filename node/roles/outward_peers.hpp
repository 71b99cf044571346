// SPDX-License-Identifier: Apache-2.0
// Gives roles the peers between which a miner that accepts no connection opens calls
// (node/seams/outward.hpp).
#pragma once

#include <set>
#include <vector>

#include "contracts/rules/state/state.hpp"
#include "node/seams/outward.hpp"

namespace assay::node {

/// The peers to which the miner `me` opens its calls: the verifiers of the jobs whose rosters it is on,
/// ascending.
std::vector<OutwardPeer> outward_peers(const contracts::StateView& state, const base::PublicKey& me);

/// The miners from which the verifier `me` takes calls: those of the jobs for which it is enlisted whose own
/// endpoint on the ledger says that they accept no connection.
std::set<base::PublicKey> outward_miners(const contracts::StateView& state, const base::PublicKey& me);

}  // namespace assay::node
