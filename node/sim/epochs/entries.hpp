// SPDX-License-Identifier: Apache-2.0
// Gives what plays the market on MarketChain the transactions by which its people enter: machines with their
// stake and speed, tenants, jobs that lease.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "node/sim/epochs/chain.hpp"
#include "node/sim/epochs/population.hpp"

namespace assay::node::sim {

/// Of a machine's node key, and the budget of a job; base units.
inline constexpr std::uint64_t kMachineStake = 1'000'000'000;
inline constexpr std::uint64_t kJobBudget = 10'000'000'000'000;

/// A chain with short windows, on which these people have what they need: no height but those at which
/// something is due is looked at.
base::Outcome<MarketChain> begin_chain(const MarketPeople& people);

/// kFailure with the rules' reason where they refused it: people of a simulation send what must be taken.
base::Outcome<void> must_apply(const contracts::ApplyOutcome& outcome, std::string_view what);

/// Its node key, a miner of the owner's, its stake; its speed as rounds before would have shown it.
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
/// Its id.
base::Outcome<base::Hash256> submit_job(MarketChain& chain, const SimTenant& tenant, const JobEntry& entry);

}  // namespace assay::node::sim
