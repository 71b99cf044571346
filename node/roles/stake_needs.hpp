// SPDX-License-Identifier: Apache-2.0
// Gives miners and their owners the free stake that jobs will want of a node key.
#pragma once

#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::node {

/// What an ask must be able to lock for a slot when the auction is held: the bond at the job's cap. REQUIRES
/// a registered miner.
base::Amount bond_at_cap(const contracts::StateView& state, const contracts::Job& job,
                         const base::PublicKey& miner);

/// Stake that a job will want of a miner for a slot, in addition to what its claims in that job have locked.
struct StakeNeed {
    base::Hash256 job;
    base::Amount amount;
};

/// The jobs that the miner asked for or has a place in, and that may still lock something of its free stake.
/// Empty for a node key that is no miner.
std::vector<StakeNeed> stake_needs(const contracts::StateView& state, const base::PublicKey& miner);

}  // namespace assay::node
