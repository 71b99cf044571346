// SPDX-License-Identifier: Apache-2.0
// The auction of a job's slots (docs/concepts/money.md), for rules and audits. The cheapest feasible asks
// win, and all winners are paid the first rejected ask, never above the cap. A winner's price does not depend
// on its own ask, so a miner with one lot can do no better than to ask its true cost (Vickrey's argument;
// tested over random instances).
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/rules/job/records.hpp"

namespace assay::contracts {

struct Offer {
    PublicKey miner;
    Amount price;             ///< base units per work unit
    bool covers_bond = true;  ///< its free stake covers the bond of one slot at the cap
};

struct AuctionResult {
    AuctionOutcome outcome;            ///< without asks_sealed, which the caller sets
    std::vector<std::size_t> winners;  ///< places in `offers`, cheapest first
};

/// The seed that breaks ties in a job's auction: a hash over the salts of all opened asks, `asks` ascending
/// by miner. Every salt was sealed before any was opened, and the seed is unknown until the last ask is
/// opened, so nobody can choose a key, a salt or a price that wins ties. The miner that opens last can
/// compare two seeds, with and without its ask, but choosing the second costs it its deposit and its ask.
/// Beacon tips are not part of the seed: a verifier can enlist as late as it likes and could grind its own
/// tip.
Hash256 tie_seed(const Hash256& job, const std::vector<Ask>& asks);

/// Clears the auction. Equal prices are ordered by H(tie_seed, miner).
AuctionResult clear_auction(const Hash256& tie_seed, Amount cap, std::uint32_t slots,
                            const std::vector<Offer>& offers);

}  // namespace assay::contracts
