// SPDX-License-Identifier: Apache-2.0
// The auction of a job's slots (docs/concepts/money.md): the cheapest feasible asks win and all are paid the
// first rejected ask, never above the cap. A winner's price does not depend on its own ask, so a miner with
// one lot can do no better than to ask its true cost (Vickrey's argument; tested over random instances).
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/rules/job_records.hpp"

namespace assay::contracts {

struct Offer {
    PublicKey miner;
    Amount price;             ///< base units per work unit
    bool covers_bond = true;  ///< its free stake covers the bond of one slot at the cap
};

struct AuctionResult {
    AuctionOutcome outcome;            ///< without asks_sealed, which the caller knows
    std::vector<std::size_t> winners;  ///< places in `offers`, cheapest first
};

/// Ties are broken by H(job, miner): not in anybody's hand once the job is known, since the miner's key was
/// registered before.
AuctionResult clear_auction(const Hash256& job, Amount cap, std::uint32_t slots,
                            const std::vector<Offer>& offers);

}  // namespace assay::contracts
