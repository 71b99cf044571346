// SPDX-License-Identifier: Apache-2.0
// Gives simulations of the market on MarketChain the transactions by which participants enter: machines with
// their stake and speed, tenants, and jobs that lease.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "node/sim/epochs/chain.hpp"
#include "node/sim/epochs/population.hpp"

namespace assay::node::sim {

/// Stake of a machine's node key, and budget of a job, in base units.
inline constexpr std::uint64_t kMachineStake = 1'000'000'000;
inline constexpr std::uint64_t kJobBudget = 10'000'000'000'000;
/// How long a job may wait for lots.
inline constexpr std::uint64_t kHeightsOfAJob = 1'000'000;

/// A chain with short windows on which these participants have the money that they need. Only heights at
/// which something is due are visited.
base::Outcome<MarketChain> begin_chain(const MarketPeople& people);

/// kFailure with the rules' reason when they refused it, because participants of a simulation send only valid
/// transactions.
base::Outcome<void> must_apply(const contracts::ApplyOutcome& outcome, std::string_view what);

/// Registers the node key as a miner of the owner, with its stake, and with the speed that earlier rounds
/// would have measured.
base::Outcome<void> register_machine(MarketChain& chain, const SimKey& owner, const SimMachine& machine);
base::Outcome<void> register_tenant(MarketChain& chain, const SimTenant& tenant);

/// A small job that takes `lots` of a class of at least these sizes, or none.
struct JobEntry {
    std::uint64_t number = 0;
    std::uint32_t lots = 1;
    std::uint8_t speed = 0;
    std::uint8_t memory = 0;
    std::uint8_t network = 0;
};
/// Its id. Enough verifiers enlist for it at once.
base::Outcome<base::Hash256> submit_job(MarketChain& chain, const SimTenant& tenant, const JobEntry& entry);

}  // namespace assay::node::sim
