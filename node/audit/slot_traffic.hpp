// SPDX-License-Identifier: Apache-2.0
// Gives buyers and miners the bytes of blobs that a slot moves up and down in a round, party by party.
#pragma once

#include <cstdint>

#include "node/audit/job_plan.hpp"

namespace assay::node {

/// A figure for a miner without standing, whose units are all drawn, and for one with it.
struct TrafficByStanding {
    std::uint64_t newcomer = 0;
    std::uint64_t proven = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("newcomer", newcomer);
        visit("proven", proven);
    }
};

/// Of one slot in one round with everybody honest and there; means over the draw, rounded up.
struct SlotTraffic {
    TrafficByStanding miner_up;       ///< starts of drawn runs, the update, what the slot hands on
    std::uint64_t miner_down = 0;     ///< the other slots' updates, of which it makes the next base
    TrafficByStanding verifier_up;    ///< parts of the stored bytes to the other verifiers, updates to miners
    TrafficByStanding verifier_down;  ///< starts of drawn runs, the stored bytes that it did not compute
};

/// With so many enlisted verifiers, two of which recompute. Each start goes to both of them. Of the stored
/// bytes whoever recomputed them fetches nothing; every other verifier fetches its part, one of `verifiers`,
/// of the miner and the rest of the others. Miners ask verifiers. REQUIRES `verifiers` >= 2, and plan_bytes()
/// of the same spec.
SlotTraffic slot_traffic(const program::JobSpec& spec, const PlannedBytes& planned, std::uint32_t verifiers);

}  // namespace assay::node
