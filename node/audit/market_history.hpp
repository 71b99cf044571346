// SPDX-License-Identifier: Apache-2.0
// Gives plans what a ledger says of its market so far: prices that were cleared, speeds that were verified,
// and what rounds took. The one reader of it: another kind of record of speeds or prices is read here too.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::node {

struct MarketHistory {
    /// Of a work unit. For a job that holds an auction of its own: one for each job whose auction has ended.
    /// For one that leases its machines: what lots of classes that do for it went for, the lowest and the
    /// highest price of each clearing, and the base price where lots were leased at it.
    std::vector<base::Amount> prices;
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

/// For a job of this specification: of the newest jobs of its profile whose records `state` has, of their
/// newest rounds, and of the classes of lots that its terms take. Every read may be a question to a node, so
/// that a few dozen records of each kind are read at most, and the clearings that the ledger keeps.
MarketHistory market_history(const contracts::StateView& state, const program::JobSpec& spec);

}  // namespace assay::node
