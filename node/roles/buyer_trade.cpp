// SPDX-License-Identifier: Apache-2.0
// How the buyer of a job that leases its machines bids for lots of the next epoch, and leases what is left of
// the running one.
#include <algorithm>
#include <utility>

#include "contracts/rules/market/seals.hpp"
#include "contracts/rules/market/terms.hpp"
#include "node/roles/buyer.hpp"
#include "node/roles/job_note.hpp"
#include "node/roles/price_order.hpp"

namespace assay::node {

namespace {

std::string bid_note(const base::Hash256& job) { return job_note("bid-seals", job); }

/// Whether what was sealed can still be had: the clock may have stood still for long since. The offers are
/// those at its price.
bool has_lots(const std::vector<ClassOffer>& offers, const SealedBid& bid) {
    return std::any_of(offers.begin(), offers.end(), [&](const ClassOffer& offer) {
        return offer.kind == bid.kind && offer.supply >= bid.lots;
    });
}

std::string fix_of(const base::Hash256& job) {
    return "; add to it with: assay job topup " + job.brief() + " AMOUNT";
}

}  // namespace

base::Amount BuyerRole::bid_price(const contracts::JobTerms& job) const {
    const base::Amount cap = job.spec.market.max_price;
    return std::min(bid_order_ ? *bid_order_ : options_.bid.value_or(cap), cap);
}

void BuyerRole::look_at_bid_order() {
    constexpr std::uint64_t kOrderPauseNs = 500'000'000;  // blocks may stop
    const std::uint64_t now = parts().seams.clock.mono_ns();
    if (order_seen_ && order_seen_->first == height() && now < order_seen_->second + kOrderPauseNs) return;
    order_seen_ = {height(), now};
    const auto ordered = read_price_order(parts().seams.disk, bid_order_note(options_.job));
    // Who cannot tell what its owner pays bids nothing, and leases nothing.
    if (!ordered.ok() && !bid_unread_)
        log().warn(ordered.error().what + "; it bids nothing meanwhile; " + ordered.error().fix);
    bid_unread_ = !ordered.ok();
    if (!ordered.ok() || *ordered == bid_order_) return;
    bid_order_ = *ordered;
    const std::string job = "job " + options_.job.brief();
    log().info(bid_order_ ? job + " is told to bid " + base::to_text(*bid_order_) +
                                " a work unit, whatever --bid says; assay market bid " +
                                options_.job.brief() + " default takes it back"
                          : job + " bids as it was started with");
}

void BuyerRole::say_of_market(const std::string& text) {
    if (std::exchange(said_of_market_, text) != text) log().warn(text);
}

void BuyerRole::trade(const contracts::Job& job) {
    look_at_bid_order();
    switch (next_bid_step(state(), job)) {
        case BidStep::kNone: break;
        case BidStep::kSeal:
            if (!bid_unread_) seal_bid(job);
            break;
        case BidStep::kOpen: open_bid(job); break;
    }
    if (bid_unread_) return;
    if (const auto lease = choice_.lease(state(), job, height(), bid_price(job)))
        offer("lease lots for job " + job.id.brief(), *lease);
}

bool BuyerRole::covers_bid_deposit(const contracts::Job& job) {
    const base::Amount deposit = contracts::read_market_params(state()).bid_deposit;
    if (contracts::check_spare(state(), job.id, deposit)) return true;
    say_of_market(
        "job " + job.id.brief() +
        " does not bid: beside the bid's deposit its escrow has to keep what this round and the next "
        "can cost at its cap, or what the next can at the price of its lots. The deposit is " +
        base::to_text(deposit) + fix_of(job.id));
    return false;
}

void BuyerRole::seal_bid(const contracts::Job& job) {
    if (!covers_bid_deposit(job)) return;
    auto note = read_seals<SealedBid>(parts().seams.disk, bid_note(job.id));
    if (!note.ok()) return fail_with(OwnFailure::kNotes, note.error());
    const std::uint64_t epoch = contracts::read_market_clock(state()).epoch;
    const base::Amount price = bid_price(job);
    const SealedBid* const made = note->of_epoch(epoch);
    const std::vector<ClassOffer>& offers = choice_.offers(state(), job, height(), price);
    const bool again = made != nullptr && made->price == price && has_lots(offers, *made);
    if (!again) {
        const auto choice = choose_bid(job, offers);
        if (!choice)
            return say_of_market("job " + job.id.brief() +
                                 " bids for nothing: no class that does for it has " +
                                 std::to_string(job.spec.market.terms.gang) + " lots at " +
                                 base::to_text(price) + " a work unit or less; it waits for machines");
        if (!contracts::check_cover(state(), job.id, choice->kind, price))
            return say_of_market(
                "job " + job.id.brief() + " does not bid: its escrow does not cover a round at " +
                base::to_text(price) + " a work unit" + fix_of(job.id) + ", or bid less with --bid");
        said_of_market_.clear();
        note->add({.epoch = epoch,
                   .kind = choice->kind,
                   .lots = choice->lots,
                   .price = price,
                   .salt = random_hash()});
        if (auto written = write_seals(parts().seams.disk, bid_note(job.id), *note); !written.ok())
            return fail_with(OwnFailure::kNotes, written.error());
        log().info("job " + job.id.brief() + " bids " + base::to_text(price) + " a work unit for " +
                   std::to_string(choice->lots) + (choice->lots == 1 ? " lot" : " lots") + " of speed " +
                   std::to_string(choice->kind.speed) + " in epoch " + std::to_string(epoch + 1));
    }
    const SealedBid& bid = note->sealed.back();
    offer("seal a bid for job " + job.id.brief(),
          contracts::BidSeal{
              .job = job.id,
              .seal = contracts::bid_seal(chain_id(), job.id, bid.kind, bid.lots, bid.price, bid.salt)});
}

void BuyerRole::open_bid(const contracts::Job& job) {
    const auto note = read_seals<SealedBid>(parts().seams.disk, bid_note(job.id));
    if (!note.ok()) return fail_with(OwnFailure::kNotes, note.error());
    const auto standing = contracts::read_lot_bid(state(), job.id);
    const SealedBid* const bid = note->find([&](const SealedBid& one) {
        return standing && contracts::bid_seal(chain_id(), job.id, one.kind, one.lots, one.price, one.salt) ==
                               standing->seal;
    });
    if (bid == nullptr)
        return say_of_market("job " + job.id.brief() +
                             " has a sealed bid that this home has no note of: it cannot be opened, and its "
                             "deposit is burned; serve a job from one home alone");
    offer("open the bid of job " + job.id.brief(),
          contracts::BidOpen{
              .job = job.id, .kind = bid->kind, .lots = bid->lots, .price = bid->price, .salt = bid->salt});
}

void BuyerRole::observe(const contracts::Event& event) {
    if (event.job != options_.job) return;
    const std::string job = "job " + event.job.brief();
    if (event.kind == contracts::EventKind::kBidLost) {
        if (event.reason == contracts::Reason::kEscrowTooSmall) {
            log().warn(job + ": its bid for epoch " + std::to_string(event.number) +
                       " was set aside, because its escrow does not cover a round at " +
                       base::to_text(event.amount) + " a work unit" + fix_of(event.job) +
                       ", or bid less with --bid");
        } else {
            log().info(job + ": no lots in epoch " + std::to_string(event.number) + " at " +
                       base::to_text(event.amount) +
                       " a work unit: " + std::string(contracts::explain(event.reason)));
        }
    }
    if (event.kind == contracts::EventKind::kSealLost)
        log().warn(job + ": a sealed bid was not opened, and its deposit " + base::to_text(event.amount) +
                   " is burned; keep this process running, which opens bids while the market takes them");
    if (event.kind == contracts::EventKind::kLotsLost)
        log().info(job + " has " + std::to_string(event.number) +
                   " lots less from the next epoch on; it goes on, or waits, at the border of its round");
}

void BuyerRole::refused(const RefusedOffer& offer) {
    if (offer.type == contracts::TxType::kBidSeal &&
        offer.refusal.reason == contracts::Reason::kEscrowTooSmall)
        return log().warn(offer.name +
                          " refused: beside the bid's deposit the escrow has to keep what this round and the "
                          "next can cost" +
                          fix_of(options_.job));
    FollowingRole::refused(offer);
}

}  // namespace assay::node
