// SPDX-License-Identifier: Apache-2.0
// Gives rules and audits the auction of a job's slots (docs/concepts/money.md): the cheapest feasible asks
// win and all are paid the first rejected ask, never above the cap. A winner's price does not depend on
// its own ask, so a miner with one lot can do no better than to ask its true cost (Vickrey's argument;
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
    AuctionOutcome outcome;            ///< without asks_sealed, which the caller knows
    std::vector<std::size_t> winners;  ///< places in `offers`, cheapest first
};

/// What breaks the ties of a job's auction: a hash over the salts of all opened asks, `asks` ascending by
/// miner. Every salt was sealed before any was opened, so that nobody can choose a key, a salt or a price
/// that wins ties: the seed stays unknown until the last ask is opened. Who opens last sees two seeds, with
/// its ask and without, and pays for the second with its deposit and with that ask. Beacon tips are left out:
/// a verifier enlists as late as it likes and could grind its own.
Hash256 tie_seed(const Hash256& job, const std::vector<Ask>& asks);

/// Equal prices stand in the order of H(tie_seed, miner).
AuctionResult clear_auction(const Hash256& tie_seed, Amount cap, std::uint32_t slots,
                            const std::vector<Offer>& offers);

}  // namespace assay::contracts
