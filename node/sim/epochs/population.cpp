// SPDX-License-Identifier: Apache-2.0
#include "node/sim/epochs/population.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "contracts/base/hash.hpp"
#include "node/plan/draws.hpp"

namespace assay::node::sim {

namespace {

constexpr double kMedianCost = 1'000;
constexpr double kMedianValue = 1'500;
/// 64 to 127 and 256 to 511 Mbit/s.
constexpr std::uint8_t kSlowLink = 7, kFastLink = 9;

SimKey key_of(std::uint64_t seed, std::string_view what, std::size_t number) {
    const base::Hash256 bytes =
        base::Hasher("assay/sim-market/v1").add_u64(seed).add(base::as_bytes(what)).add_u64(number).finish();
    return SimKey(bytes);
}

std::uint64_t log_normal(Draws& random, double median, double spread) {
    return static_cast<std::uint64_t>(std::llround(median * std::exp(spread * random.normal()))) + 1;
}

std::uint32_t up_to(Draws& random, std::uint32_t most) {
    return static_cast<std::uint32_t>(random.word() % most);
}

/// Each owner that plays has a job of its own, for as many lots as it offers in the class of its first
/// machine.
void add_washing_jobs(MarketPeople& people, const MarketSize& size, std::uint64_t seed) {
    for (std::size_t owner = 0; owner < people.owners.size(); ++owner) {
        if (!people.owners[owner].plays) continue;
        const SimMachine& first = people.machines[owner * kMachinesOfAnOwner];
        SimJob job;
        job.tenant = people.tenants.size();
        job.epochs = job.patience = size.epochs;
        job.lots = 0;
        for (const SimMachine& machine : people.machines)
            job.lots += machine.owner == owner && machine.kind == first.kind ? 1U : 0U;
        job.value = 2 * first.cost;
        job.speed = first.kind.speed;
        job.memory = first.kind.memory;
        job.network = first.kind.network;
        job.plays = true;
        job.washes = owner;
        people.tenants.push_back(
            {key_of(seed, "tenant", job.tenant), key_of(seed, "tenant's node", job.tenant)});
        people.jobs.push_back(job);
    }
}

}  // namespace

MarketPeople make_population(const MarketSize& size, const MarketScenario& scenario, std::uint64_t seed) {
    MarketPeople people;
    Draws random(seed);
    // Who plays is drawn apart, so that all else is the same in every scenario.
    Draws roles(seed ^ 0x9e3779b97f4a7c15ULL);
    Draws links(seed ^ 0xbf58476d1ce4e5b9ULL);
    const bool owners_play = scenario.play == MarketPlay::kWash ||
                             scenario.play == MarketPlay::kWithholding ||
                             scenario.play == MarketPlay::kSpotAndRun;
    const bool buyers_play = scenario.play == MarketPlay::kShading || scenario.play == MarketPlay::kSniping ||
                             scenario.play == MarketPlay::kRing || scenario.play == MarketPlay::kSpotAndRun;
    const std::uint32_t owners = (size.miners + kMachinesOfAnOwner - 1) / kMachinesOfAnOwner;
    for (std::uint32_t i = 0; i < owners; ++i)
        people.owners.push_back({key_of(seed, "owner", i), roles.uniform() < scenario.share && owners_play});
    for (std::uint32_t i = 0; i < size.miners; ++i) {
        const std::uint64_t speed = log_normal(random, 2'048, 0.8);
        contracts::LotClass kind;
        kind.profile = program::Profile::kI16;
        kind.speed = static_cast<std::uint8_t>(
            std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::bit_width(speed)), 10, 13));
        kind.memory = static_cast<std::uint8_t>(4 + up_to(random, 3));
        kind.network = up_to(links, 2) == 0 ? kSlowLink : kFastLink;
        people.machines.push_back({key_of(seed, "machine", i), i / kMachinesOfAnOwner, kind,
                                   std::max<std::uint64_t>(speed, std::uint64_t{1} << (kind.speed - 1U)),
                                   log_normal(random, kMedianCost, 0.3)});
    }
    const std::uint32_t tenants = (size.jobs + kJobsOfATenant - 1) / kJobsOfATenant;
    for (std::uint32_t i = 0; i < tenants; ++i)
        people.tenants.push_back({key_of(seed, "tenant", i), key_of(seed, "tenant's node", i)});
    for (std::uint32_t i = 0; i < size.jobs; ++i) {
        SimJob job;
        job.tenant = i / kJobsOfATenant;
        job.arrives = up_to(random, std::max(1U, size.epochs * 3 / 4));
        job.epochs = 1 + up_to(random, 4);
        job.patience = job.epochs + up_to(random, 6);
        // In proportion to the machines: with ten of them a job, 5 to 40 lots.
        const std::uint32_t scale = std::max(1U, size.miners / std::max(1U, size.jobs * 2));
        job.lots = scale << up_to(random, 4);
        job.value = log_normal(random, kMedianValue, 0.5);
        job.speed = static_cast<std::uint8_t>(10 + up_to(random, 3));
        job.memory = static_cast<std::uint8_t>(4 + up_to(random, 2));
        job.network = up_to(links, 4) == 0 ? kFastLink : kSlowLink;
        job.plays = roles.uniform() < scenario.share && buyers_play;
        people.jobs.push_back(job);
    }
    if (scenario.play == MarketPlay::kWash) add_washing_jobs(people, size, seed);
    return people;
}

}  // namespace assay::node::sim
