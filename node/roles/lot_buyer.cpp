// SPDX-License-Identifier: Apache-2.0
#include "node/roles/lot_buyer.hpp"

#include <algorithm>
#include <map>

#include "contracts/base/wide.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/judges.hpp"
#include "contracts/rules/market/book.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/market/terms.hpp"
#include "contracts/rules/market/working_lots.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/limits.hpp"

namespace assay::node {

using base::Amount;
using contracts::LotClass;
using contracts::MarketPhase;

namespace {

/// What the job gains for each height of a lot's work, up to a factor that all classes share.
base::Uint128 gain_of(const ClassOffer& offer, Amount price) {
    if (offer.expected >= price) return 0;
    return base::Uint128{price.units() - offer.expected.units()} << offer.kind.speed;
}

/// Prices of the asks that stand and are not set aside at the clearing, ascending, by class.
std::map<LotClass, std::vector<Amount>> standing_asks(const contracts::StateView& state) {
    std::map<LotClass, std::vector<Amount>> asks;
    for (const auto& [node, ask] : contracts::list_lot_asks(state)) {
        if (!ask.opened) continue;
        const auto measured = contracts::read_machine(state, node, ask.kind.profile).speed_bits();
        if (!measured || *measured >= ask.kind.speed) asks[ask.kind].push_back(ask.price);
    }
    for (auto& [kind, prices] : asks) std::sort(prices.begin(), prices.end());
    return asks;
}

/// The most that lots of the class cost in the epochs that the state remembers, less an eighth for each epoch
/// since. So a job that was outbid does not come back at once, but still finds a class that nobody wants any
/// more.
Amount remembered_price(const contracts::StateView& state, const LotClass& kind, std::uint64_t running) {
    Amount most;
    for (const auto& [epoch, cleared] : contracts::list_class_epochs(state, kind)) {
        if (!cleared.highest || epoch > running) continue;
        std::uint64_t price = cleared.highest->units();
        for (std::uint64_t since = epoch; since < running && price > 0; ++since) price -= (price + 7) / 8;
        most = std::max(most, Amount::of(price).value());
    }
    return most;
}

ClassOffer offer_of(const contracts::StateView& state, const LotClass& kind, const std::vector<Amount>& asks,
                    std::uint32_t gang, Amount price) {
    ClassOffer offer{.kind = kind, .supply = 0, .base_price = {}, .expected = {}};
    const std::uint64_t running = contracts::read_market_clock(state).epoch;
    offer.base_price = contracts::base_price_for(state, kind, running + 1,
                                                 contracts::read_market_params(state).least_base_price);
    const auto payable = std::upper_bound(asks.begin(), asks.end(), price);
    offer.supply = static_cast<std::uint32_t>(payable - asks.begin());
    offer.expected = std::max(offer.base_price, remembered_price(state, kind, running));
    if (asks.size() >= gang && gang > 0) offer.expected = std::max(offer.expected, asks[gang - 1]);
    // What was offered for the running epoch and does not stand may be offered anew, at whatever price.
    const auto last = contracts::read_class_epoch(state, kind, running);
    if (last && last->offered > asks.size())
        offer.supply += last->offered - static_cast<std::uint32_t>(asks.size());
    return offer;
}

bool is_better(const ClassOffer& one, const ClassOffer& other, std::uint32_t gang, Amount price) {
    const bool enough = one.supply >= gang;
    if (enough != (other.supply >= gang)) return enough;
    const base::Uint128 gain = gain_of(one, price);
    if (const base::Uint128 of_other = gain_of(other, price); gain != of_other) return gain > of_other;
    if (one.expected != other.expected) return one.expected < other.expected;
    if (one.kind.speed != other.kind.speed) return one.kind.speed > other.kind.speed;
    return contracts::number_of(one.kind) < contracts::number_of(other.kind);
}

/// Whether a round is still to come that leases would serve.
bool needs_lots(const contracts::Job& job) {
    if (contracts::is_over(job.phase) || job.cancel_asked || job.found_void) return false;
    return job.phase == contracts::JobPhase::kWaiting || job.round + 1 < job.spec.rounds;
}

/// Whether the job lacks nothing but machines at this height: one that nobody could judge leases nothing, and
/// lots of one whose enlistment is open would stand idle.
bool lacks_only_machines(const contracts::StateView& state, const contracts::Job& job, std::uint64_t height) {
    const contracts::Params params = contracts::params_of(state, job);
    if (contracts::owners_of_judges(state, job).size() < params.panel_owners_least) return false;
    return job.round > 0 || job.phase == contracts::JobPhase::kRounds ||
           height > contracts::last_of_enlistment(params, job);
}

}  // namespace

std::vector<ClassOffer> offers_for(const contracts::StateView& state, const contracts::JobTerms& job,
                                   Amount price) {
    auto asks = standing_asks(state);
    for (const auto& [kind, book] : contracts::list_class_books(state)) asks.try_emplace(kind);
    const std::uint32_t gang = job.spec.market.terms.gang;
    std::vector<ClassOffer> offers;
    for (const auto& [kind, prices] : asks) {
        if (!contracts::takes_class(job, kind)) continue;
        const ClassOffer offer = offer_of(state, kind, prices, gang, price);
        if (offer.supply > 0 && offer.base_price <= price) offers.push_back(offer);
    }
    std::sort(offers.begin(), offers.end(), [&](const ClassOffer& one, const ClassOffer& other) {
        return is_better(one, other, gang, price);
    });
    return offers;
}

std::optional<BidChoice> choose_bid(const contracts::JobTerms& job, const std::vector<ClassOffer>& offers) {
    const std::uint32_t gang = job.spec.market.terms.gang;
    if (offers.empty() || offers.front().supply < gang) return std::nullopt;
    return BidChoice{offers.front().kind, gang};
}

BidStep next_bid_step(const contracts::StateView& state, const contracts::Job& job) {
    if (!job.leases() || job.phase == contracts::JobPhase::kEnded) return BidStep::kNone;
    const contracts::MarketClock clock = contracts::read_market_clock(state);
    const auto bid = contracts::read_lot_bid(state, job.id);
    if (bid) {
        const bool opens = !bid->opened && clock.phase == MarketPhase::kOpening;
        return opens ? BidStep::kOpen : BidStep::kNone;
    }
    const bool takes_seals = clock.phase == MarketPhase::kSealing || clock.phase == MarketPhase::kStopped;
    return takes_seals && needs_lots(job) ? BidStep::kSeal : BidStep::kNone;
}

std::optional<contracts::LeaseTake> choose_lease(const contracts::StateView& state, const contracts::Job& job,
                                                 std::uint64_t height, Amount price) {
    if (!job.leases() || !needs_lots(job) || !lacks_only_machines(state, job, height)) return std::nullopt;
    const program::MarketTerms& terms = job.spec.market.terms;
    const std::uint64_t epoch = contracts::read_market_clock(state).epoch;
    const std::uint32_t held = contracts::count_working_lots(state, job, epoch);
    const std::uint32_t in_all = contracts::count_leases(state, job.id, epoch);
    const std::uint32_t most = contracts::most_leased(terms.most);
    if (held >= terms.most || in_all >= most) return std::nullopt;
    struct Left {
        ClassOffer offer;
        std::uint32_t lots = 0;
    };
    std::vector<Left> left;
    std::uint64_t all = held;
    for (const auto& [kind, book] : contracts::list_class_books(state)) {
        const auto cleared = contracts::read_class_epoch(state, kind, epoch);
        if (!cleared || cleared->base_price > price || !contracts::takes_class(job, kind)) continue;
        if (!contracts::check_cover(state, job.id, kind, cleared->base_price)) continue;
        const auto lots = static_cast<std::uint32_t>(
            contracts::list_lots_left(state, epoch, kind, contracts::kMaxLotsTaken).size());
        if (lots == 0) continue;
        all += lots;
        left.push_back({{kind, lots, cleared->base_price, cleared->base_price}, lots});
    }
    // With what it may still lease in this epoch.
    const std::uint64_t reach = held + std::min<std::uint64_t>(all - held, most - in_all);
    if (left.empty() || reach < terms.gang) return std::nullopt;
    const auto best = std::min_element(left.begin(), left.end(), [&](const Left& one, const Left& other) {
        return is_better(one.offer, other.offer, 1, price);
    });
    return contracts::LeaseTake{.job = job.id,
                                .kind = best->offer.kind,
                                .lots = std::min({best->lots, terms.most - held, most - in_all}),
                                .wait = false};
}

}  // namespace assay::node
