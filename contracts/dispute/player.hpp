// SPDX-License-Identifier: Apache-2.0
// The next move of a player of a game. The claimant posts its own hashes; the challenger picks the first of
// them that differs from its own. Both use a UnitMemory, which computes what they need.
#pragma once

#include <optional>
#include <vector>

#include "contracts/dispute/way.hpp"

namespace assay::dispute {

/// A player's own computation of the unit.
class UnitMemory {
public:
    UnitMemory() = default;
    UnitMemory(const UnitMemory&) = delete;
    UnitMemory& operator=(const UnitMemory&) = delete;
    virtual ~UnitMemory() = default;

    /// Root of the slot's state before a step of the segment, or after its last.
    virtual Hash256 state(std::uint32_t step) = 0;
    /// The row way.row of the tree that is posted at the way's stage (kOutputs, kStateTensors, kTensors,
    /// kTiles or kPartials); at kComponents, the leaves of the state after the step.
    virtual std::vector<Hash256> row(const Way& way) = 0;
    /// For a merge: the roots of parameters and momentum.
    virtual std::vector<Hash256> arrays() = 0;
    /// Loss and gradient norm of a step; nothing when the slot's work ends before they are written.
    virtual std::optional<program::Fingerprint> fingerprint(std::uint32_t step) = 0;
    /// Where the own computation of the way's step, update or merge ends, if it does. `row` has hashes of a
    /// step's outputs up to there, and none that mean anything of an update.
    virtual std::optional<NotFinitePlace> ends_at(const Way& way) = 0;
    /// What the claimant opens at kWitness.
    virtual base::Bytes witness(const Way& way) = 0;
};

/// The hashes that the claimant posts. REQUIRES a way that waits for hashes.
std::vector<Hash256> next_post(const Way& way, UnitMemory& own);

/// What the challenger picks of the posted hashes; nothing when it finds nothing to reject.
std::optional<Pick> next_pick(const Way& way, UnitFacts& facts, UnitMemory& own);

}  // namespace assay::dispute
