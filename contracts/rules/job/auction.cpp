// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/auction.hpp"

#include <algorithm>
#include <tuple>

namespace assay::contracts {

Hash256 tie_seed(const Hash256& job, const std::vector<Ask>& asks) {
    base::Hasher hasher("assay/ask-ties/v2");
    hasher.add(job);
    for (const Ask& ask : asks) {
        if (ask.revealed) hasher.add(ask.miner.view()).add(ask.salt);
    }
    return hasher.finish();
}

AuctionResult clear_auction(const Hash256& tie_seed, Amount cap, std::uint32_t slots,
                            const std::vector<Offer>& offers) {
    AuctionResult result;
    AuctionOutcome& outcome = result.outcome;
    outcome.asks_revealed = static_cast<std::uint32_t>(offers.size());
    std::vector<std::tuple<Amount, Hash256, std::size_t>> feasible;
    for (std::size_t i = 0; i < offers.size(); ++i) {
        const Offer& offer = offers[i];
        if (offer.price > cap) {
            ++outcome.above_cap;
        } else if (!offer.covers_bond) {
            ++outcome.short_stake;
        } else {
            const Hash256 tie =
                base::Hasher("assay/ask-tie/v2").add(tie_seed).add(offer.miner.view()).finish();
            feasible.emplace_back(offer.price, tie, i);
        }
    }
    std::sort(feasible.begin(), feasible.end());
    outcome.clearing_price = cap;
    if (feasible.size() > slots) {
        outcome.first_rejected = std::get<0>(feasible[slots]);
        outcome.clearing_price = *outcome.first_rejected;
        feasible.resize(slots);
    }
    outcome.winners = static_cast<std::uint32_t>(feasible.size());
    for (const auto& entry : feasible) result.winners.push_back(std::get<2>(entry));
    return result;
}

}  // namespace assay::contracts
