// SPDX-License-Identifier: Apache-2.0
// Gives the buyer role what its job does in the market between jobs (decision 86), as functions of the state:
// which classes do and what they cost, for which one it bids, when it seals and opens, and what it leases at
// once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/market/records.hpp"
#include "contracts/rules/market/transactions.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::node {

/// A class that does for a job, as far as the state shows before the next clearing: asks that are sealed say
/// nothing.
struct ClassOffer {
    contracts::LotClass kind;
    /// Lots that the job could pay: asks that stand, and what else was offered last, at whatever price.
    std::uint32_t supply = 0;
    base::Amount base_price;  ///< of the next epoch
    /// That a lot will cost: no less than the base price and the standing asks, nor than what lots cost in
    /// past epochs, less an eighth for each since.
    base::Amount expected;
};

/// Classes that do for the job at a price of `price` at most, the best first: those with enough lots for its
/// gang, then what it gains for each height of work (price less expected cost, times speed), then the
/// cheapest, the fastest, the lowest number. Classes whose base price is above `price` are left out.
std::vector<ClassOffer> offers_for(const contracts::StateView& state, const contracts::JobTerms& job,
                                   base::Amount price);

/// For what a job bids.
struct BidChoice {
    contracts::LotClass kind;
    std::uint32_t lots = 0;
};
/// Its gang, in the best of offers_for() that has so many lots; nothing: none has.
std::optional<BidChoice> choose_bid(const contracts::JobTerms& job, const std::vector<ClassOffer>& offers);

enum class BidStep : std::uint8_t { kNone, kSeal, kOpen };
/// What the job does next about its bid. It seals one while it waits, or has a round to come behind the
/// running one: that one goes on without leases.
BidStep next_bid_step(const contracts::StateView& state, const contracts::Job& job);

/// The lots that the job leases at once at this height: up to its most, where the base price is not above
/// `price`, and where it could begin with them. Nothing: none.
std::optional<contracts::LeaseTake> choose_lease(const contracts::StateView& state, const contracts::Job& job,
                                                 std::uint64_t height, base::Amount price);

}  // namespace assay::node
