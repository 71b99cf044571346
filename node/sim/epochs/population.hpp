// SPDX-License-Identifier: Apache-2.0
// Gives the simulator of the market its participants: machines with costs and speeds, jobs with values,
// arrivals and deadlines, all drawn from a seed. They are assumptions, no part of the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/rules/market/records.hpp"
#include "node/sim/epochs/scenario.hpp"
#include "node/sim/epochs/sim_key.hpp"

namespace assay::node::sim {

/// Machines are ordered by owner; each owner has this many.
inline constexpr std::uint32_t kMachinesOfAnOwner = 4;
/// The same for jobs and tenants.
inline constexpr std::uint32_t kJobsOfATenant = 5;

struct MarketSize {
    std::uint32_t miners = 1'000;
    std::uint32_t jobs = 100;
    std::uint32_t epochs = 12;
    double churn = 0.05;  ///< share of the machines that are away in an epoch
};

/// An owner of machines. It plays the scenario, or asks for what its machines cost.
struct MachineOwner {
    SimKey key;
    bool plays = false;
};

struct SimMachine {
    SimKey node;
    std::size_t owner = 0;
    contracts::LotClass kind;
    std::uint64_t speed = 0;  ///< thousandths of a work unit per height, as earlier rounds would have
                              ///< measured
    std::uint64_t cost = 0;   ///< of a work unit, in base units
};

/// An owner of jobs.
struct SimTenant {
    SimKey key;
    SimKey node;
};

struct SimJob {
    std::size_t tenant = 0;
    std::uint32_t arrives = 0;   ///< epoch
    std::uint32_t patience = 0;  ///< epochs from its arrival to its deadline
    std::uint32_t lots = 1;      ///< in each epoch, all or none
    std::uint32_t epochs = 1;    ///< for which it needs them
    std::uint64_t value = 0;     ///< of a work unit, in base units
    std::uint8_t speed = 0;      ///< bits: the least of the classes that suit it
    std::uint8_t memory = 0;     ///< bits, the same
    std::uint8_t network = 0;    ///< bits, the same
    bool plays = false;
    std::optional<std::size_t>
        washes;  ///< the owner of machines for whose own lots it bids; it is worth nothing
};

struct MarketPeople {
    std::vector<MachineOwner> owners;
    std::vector<SimMachine> machines;
    std::vector<SimTenant> tenants;
    std::vector<SimJob> jobs;
};

/// The same participants for every scenario of a seed, except for who plays it.
MarketPeople make_population(const MarketSize& size, const MarketScenario& scenario, std::uint64_t seed);

}  // namespace assay::node::sim
