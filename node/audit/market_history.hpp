// SPDX-License-Identifier: Apache-2.0
// Gives plans what a ledger says of its market so far: prices that were cleared, speeds that were verified,
// and what rounds took. The one reader of it: another kind of record of speeds or prices is read here too.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::node {

struct MarketHistory {
    std::vector<base::Amount> prices;  ///< of a work unit, one for each job whose auction has ended
    /// Verified work units per height, one for each miner that has a verified speed in a job of the profile.
    std::vector<double> speeds;
    /// Of settled rounds: heights from the last commitment to the settlement, less the time in which what was
    /// drawn is computed again at the speed at which it was trained.
    std::vector<double> overheads;
    std::uint64_t newcomers = 0;  ///< slots of those rounds whose miners were audited always
    std::uint64_t slots = 0;      ///< committed slots of those rounds

    /// Of slots whose miners are newcomers; 1 where nothing is known.
    [[nodiscard]] double newcomer_share() const {
        return slots == 0 ? 1.0 : static_cast<double>(newcomers) / static_cast<double>(slots);
    }
};

/// Of the newest jobs of this profile whose records `state` has, and of their newest rounds. Every read may
/// be a question to a node, so that a few dozen records of each kind are read at most.
MarketHistory market_history(const contracts::StateView& state, program::Profile profile);

}  // namespace assay::node
