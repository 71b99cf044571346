// SPDX-License-Identifier: Apache-2.0
// The miner's misconduct on a devnet (misconduct.hpp) while it bids.
#include "contracts/rules/job/auction.hpp"
#include "node/roles/miner.hpp"

namespace assay::node {

base::Amount MinerRole::sealed_price() const {
    if (!conducts(Misconduct::kSnipingBidder)) return options_.ask;
    return base::Amount::of(options_.ask.units() / 2).value_or(options_.ask);
}

bool MinerRole::opens_ask(const contracts::Job& job) const {
    if (!conducts(Misconduct::kSnipingBidder)) return true;
    std::vector<contracts::Offer> offers{{me(), sealed_price(), true}};
    bool all_open = true;
    for (const contracts::Ask& ask : contracts::list_asks(state(), job.id)) {
        if (ask.miner == me()) continue;
        all_open = all_open && ask.revealed;
        if (ask.revealed) offers.push_back({ask.miner, ask.price, true});
    }
    // The last message that is in time is in the block behind this one, or the one after it.
    if (!all_open && height() + 2 < job.phase_deadline) return false;
    const auto cleared = contracts::clear_auction({}, job.spec.market.max_price, job.spec.slots, offers);
    return cleared.outcome.clearing_price >= options_.ask;
}

}  // namespace assay::node
