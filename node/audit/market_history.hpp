// SPDX-License-Identifier: Apache-2.0
// Gives plans MarketHistory, a ledger's market so far: clearing prices, verified speeds, and the time of
// rounds. Only this file reads it; further kinds of records of speeds or prices belong here too.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::node {

struct MarketHistory {
    /// Prices of a work unit. For a job with its own auction: one for each job whose auction has ended. For a
    /// job that leases its machines: the lowest and the highest price of each clearing of the classes that
    /// suit it, and the base price if lots were leased at it.
    std::vector<base::Amount> prices;
    /// Verified work units per height, one for each miner that has a verified speed in a job of the profile.
    std::vector<double> speeds;
    /// For settled rounds: heights from the last commitment to the settlement, less the time that recomputing
    /// the drawn units takes at the speed of training.
    std::vector<double> overheads;
    std::uint64_t newcomers = 0;  ///< slots of those rounds whose miners were always audited
    std::uint64_t slots = 0;      ///< committed slots of those rounds

    /// Share of slots whose miners are newcomers; 1 when nothing is known.
    [[nodiscard]] double newcomer_share() const {
        return slots == 0 ? 1.0 : static_cast<double>(newcomers) / static_cast<double>(slots);
    }
};

/// Reads the history for a job of this specification: the newest jobs of its profile whose records `state`
/// has, their newest rounds, and the classes of lots that its terms take. Every read may be a question to a
/// node, so it reads at most a few dozen records of each kind, and the clearings that the ledger keeps.
MarketHistory market_history(const contracts::StateView& state, const program::JobSpec& spec);

}  // namespace assay::node
