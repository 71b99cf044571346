// SPDX-License-Identifier: Apache-2.0
// Both players of a dispute by the pure code alone: the challenger walks down to the first hash that differs.
#pragma once

#include <optional>

#include "contracts/dispute/referee.hpp"
#include "tests/contracts/dispute/step.hpp"

namespace disputed {

/// The first leaf of two trees that differs, found move by move, each move checked as the ledger checks it.
std::optional<std::uint64_t> first_difference(const assay::dispute::StoredTree& claimed,
                                              const assay::dispute::StoredTree& honest);

/// What is posted of a tile, and what follows from it.
struct PlayedClaim {
    assay::dispute::PartialPosition position;
    std::vector<assay::dispute::Cells> partials;
};

/// The way down from two commitments to the first partial that differs. Nothing: they agree.
std::optional<PlayedClaim> walk(assay::dispute::StepCommitments& claimant,
                                assay::dispute::StepCommitments& challenger);

/// The hashes that a game over this claim has fixed.
assay::dispute::FixedHashes fixed_hashes(const Step& step, const assay::dispute::StepCommitments& claimant,
                                         const PlayedClaim& claim);

/// The claimant's witness.
assay::base::Bytes witness_of(assay::dispute::StepMemory& claimant, const PlayedClaim& claim);

/// The verdict on a claim with that witness.
assay::dispute::GameVerdict verdict_on(const Step& step, assay::dispute::StepCommitments& claimant,
                                       const PlayedClaim& claim);

}  // namespace disputed
