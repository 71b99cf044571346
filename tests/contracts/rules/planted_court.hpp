// SPDX-License-Identifier: Apache-2.0
// A settled round with a planted fault in it, and whole games about it: both players move by the players'
// code, every move is a transaction, and the ledger judges.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "contracts/dispute/player.hpp"
#include "tests/contracts/rules/dispute_world.hpp"

namespace assay::contracts::test {

struct PlantedCourt {
    using TraceOf = std::function<TraceRecord(const Job& job, std::uint32_t slot)>;
    using MergeOf = std::function<MergeClaim(const Job& job)>;

    Env env{DisputeWorld::params()};
    Hash256 job;

    /// m1 and m2 claim `trace`; v1 to v3 repeat it, and merge as `merge` says if it is given.
    explicit PlantedCourt(JobSpec spec, const TraceOf& trace, const MergeOf& merge = nullptr);

    /// Both move until the game has ended.
    Game play_on(std::uint32_t number, dispute::UnitMemory& claimant, dispute::UnitMemory& challenger);
    /// The unit of the game that is opened next with this challenge.
    dispute::UnitClaim unit_of(const DisputeOpen& challenge) {
        return unit_claim(env.state(), {job, 0, challenge.kind, challenge.number}, challenge.unit,
                          challenge.part)
            .value();
    }
    DisputeOpen about_slot(UnitKind unit, std::uint32_t part = 0) const {
        return {job, 0, ClaimKind::kSlot, 0, unit, part};
    }
    DisputeOpen about_merge(UnitKind unit, std::uint32_t part = 0);

    /// v4 challenges, the claim dies by the ledger's own computation, its bond is lost; then somebody who
    /// vouched for it is called with the same words and loses as well.
    Game convict(const DisputeOpen& challenge, dispute::UnitMemory& claimant,
                 dispute::UnitMemory& challenger);
};

}  // namespace assay::contracts::test
