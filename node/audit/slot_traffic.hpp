// SPDX-License-Identifier: Apache-2.0
// Gives buyers and miners the bytes of blobs that a slot moves up and down in a round, party by party.
#pragma once

#include <cstdint>

#include "node/audit/job_plan.hpp"

namespace assay::node {

/// A number for a newcomer, whose units are all drawn, and for a proven miner.
struct TrafficByStanding {
    std::uint64_t newcomer = 0;
    std::uint64_t proven = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("newcomer", newcomer);
        visit("proven", proven);
    }
};

/// Bytes of one slot in one round when everybody is honest and present; means over the draw, rounded up.
struct SlotTraffic {
    TrafficByStanding miner_up;       ///< starts of drawn runs, the update, the state that the slot hands on
    std::uint64_t miner_down = 0;     ///< the other slots' updates, from which it makes the next base
    TrafficByStanding verifier_up;    ///< parts of the stored bytes to the other verifiers, updates to miners
    TrafficByStanding verifier_down;  ///< starts of drawn runs, the stored bytes that it did not compute
};

/// For `verifiers` enlisted verifiers, two of which recompute. Each start goes to both of them. A verifier
/// that recomputed the stored bytes fetches none of them. Every other verifier fetches its part, one of
/// `verifiers` parts, from the miner and the rest from the other verifiers. Miners fetch from verifiers.
/// REQUIRES `verifiers` >= 2, and plan_bytes() of the same spec.
SlotTraffic slot_traffic(const program::JobSpec& spec, const PlannedBytes& planned, std::uint32_t verifiers);

}  // namespace assay::node
