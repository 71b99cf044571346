// SPDX-License-Identifier: Apache-2.0
// Gives the buyer role what its job does in the market between jobs (decision 86), as functions of the state:
// which classes suit it and what they cost, which one it bids for, when it seals and opens its bid, and what
// it leases at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/market/records.hpp"
#include "contracts/rules/market/transactions.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::node {

/// A class that suits a job, as far as the state shows it before the next clearing. Sealed asks are not known
/// yet.
struct ClassOffer {
    contracts::LotClass kind;
    /// Lots that may be on offer: standing asks that the job can pay, and further lots that were offered in
    /// the running epoch, whatever their price.
    std::uint32_t supply = 0;
    base::Amount base_price;  ///< in the next epoch
    /// Expected cost of a lot: the greatest of the base price, the standing ask that completes the job's
    /// gang, and what lots cost in past epochs, less an eighth for each epoch since.
    base::Amount expected;
};

/// Classes that suit the job, the best first. Classes with enough lots for its gang come first; among them
/// the order is by gain for each height of work (`price` less expected cost, times speed), then by lowest
/// cost, highest speed and lowest class number. Leaves out classes whose base price is above `price`.
std::vector<ClassOffer> offers_for(const contracts::StateView& state, const contracts::JobTerms& job,
                                   base::Amount price);

/// The class that a job bids for, and how many lots.
struct BidChoice {
    contracts::LotClass kind;
    std::uint32_t lots = 0;
};
/// Bids for the job's gang in the best class of `offers` (offers_for()). Nothing when no class has enough
/// lots.
std::optional<BidChoice> choose_bid(const contracts::JobTerms& job, const std::vector<ClassOffer>& offers);

enum class BidStep : std::uint8_t { kNone, kSeal, kOpen };
/// What the job does next about its bid. It seals one while it waits for machines, or while a round comes
/// after the running one. The running round needs no new leases.
BidStep next_bid_step(const contracts::StateView& state, const contracts::Job& job);

/// The lots that the job leases at once at this height: up to its most, at a base price of `price` at most,
/// and only if it could begin with them. Nothing: none.
std::optional<contracts::LeaseTake> choose_lease(const contracts::StateView& state, const contracts::Job& job,
                                                 std::uint64_t height, base::Amount price);

}  // namespace assay::node
