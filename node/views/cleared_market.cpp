// SPDX-License-Identifier: Apache-2.0
#include "node/views/cleared_market.hpp"

#include <algorithm>
#include <tuple>

#include "contracts/rules/foresee.hpp"
#include "contracts/rules/market/book.hpp"
#include "contracts/rules/market/terms.hpp"
#include "contracts/rules/market/tie_seed.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::node {

namespace {

using base::Amount;
using base::Hash256;
using base::PublicKey;
using contracts::ClassMarket;
using contracts::Event;
using contracts::EventKind;
using contracts::Events;
using contracts::LotClass;
using contracts::Reason;

/// What the tenant was entitled to and did not get, as the clearing sees it: it halves the counts first.
std::uint64_t owed_at_clearing(const contracts::StateView& before, const PublicKey& tenant,
                               const LotClass& kind) {
    contracts::TenantCount count = contracts::read_tenant(before, tenant, kind);
    count.entitled /= 2;
    count.received /= 2;
    return count.owed();
}

bool clears_at(const contracts::MarketClock& clock, std::uint64_t height) {
    return clock.phase == contracts::MarketPhase::kOpening && clock.clear_at == height;
}

template <class Name>
std::optional<std::size_t> place_of(const ClassMarket& market, const Name& name) {
    if constexpr (std::same_as<Name, Hash256>) {
        const auto at = std::ranges::find(market.bids, name, &contracts::ClassBid::job);
        if (at == market.bids.end()) return std::nullopt;
        return static_cast<std::size_t>(at - market.bids.begin());
    } else {
        const auto at = std::ranges::find(market.asks, name, &contracts::ClassAsk::node);
        if (at == market.asks.end()) return std::nullopt;
        return static_cast<std::size_t>(at - market.asks.begin());
    }
}

std::string price_text(Amount price) { return base::to_text(price) + " a work unit"; }

std::string count_text(std::uint64_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// What is foreseen is told as if it had been.
std::string begin_text(std::uint64_t epoch, bool foreseen) {
    return "epoch " + std::to_string(epoch) +
           (foreseen ? ", if nothing more is sent before its clearing: " : ": ");
}

}  // namespace

std::string_view to_text(BidEnd end) {
    switch (end) {
        case BidEnd::kWon: return "won";
        case BidEnd::kOutbid: return "outbid";
        case BidEnd::kBelowBase: return "below_base";
        case BidEnd::kNoCapacity: return "no_capacity";
        case BidEnd::kTooFewLots: return "too_few_lots";
        case BidEnd::kNoPrice: return "no_price";
        case BidEnd::kSetAside: return "set_aside";
        case BidEnd::kNotOpened: return "not_opened";
    }
    return "unknown";
}

std::string_view to_text(AskEnd end) {
    switch (end) {
        case AskEnd::kSold: return "sold";
        case AskEnd::kTooDear: return "too_dear";
        case AskEnd::kNotWanted: return "not_wanted";
        case AskEnd::kSetAside: return "set_aside";
        case AskEnd::kNotOpened: return "not_opened";
    }
    return "unknown";
}

ClearedMarket::ClearedMarket(const contracts::StateView& before, contracts::BlockContext block,
                             ClearingTime time)
    : before_(&before),
      block_(std::move(block)),
      time_(time),
      told_(contracts::foresee_block(before, block_)) {}

base::Outcome<std::optional<ClearedMarket>> ClearedMarket::of(const contracts::StateView& before,
                                                              const contracts::BlockContext& block,
                                                              ClearingTime time) {
    const contracts::MarketClock clock = contracts::read_market_clock(before);
    if (!clears_at(clock, block.height)) return std::optional<ClearedMarket>();
    ClearedMarket market(before, block, time);
    market.epoch_ = clock.epoch + 1;
    market.gather();
    market.clear();
    if (!market.agrees()) {
        return base::fail(base::ErrorKind::kVerification,
                          "the clearing of epoch " + std::to_string(market.epoch_) +
                              " comes to other leases here than under the rules",
                          "report this; keep the ledger as it is");
    }
    return std::optional(std::move(market));
}

void ClearedMarket::gather() {
    const auto bids = contracts::list_lot_bids(*before_);
    for (const Event& event : told_) {
        if (event.kind == EventKind::kBidLost && event.reason != Reason::kOutbid)
            bids_aside_.emplace(event.job, event.reason);
        if (event.kind == EventKind::kLotGone && event.reason == Reason::kClassTooFast)
            asks_aside_.insert(event.node);
    }
    contracts::TieSeed seed;
    for (const auto& [job, bid] : bids) {
        if (!bid.opened) continue;
        seed.add(job, bid);
        if (bids_aside_.contains(job)) continue;
        classes_[bid.kind].bids.push_back(
            {job, bid.lots, bid.price, owed_at_clearing(*before_, bid.tenant, bid.kind)});
    }
    for (const auto& [node, ask] : contracts::list_lot_asks(*before_)) {
        if (!ask.opened || asks_aside_.contains(node)) continue;
        seed.add(node, ask);
        classes_[ask.kind].asks.push_back({node, ask.price});
    }
    const Hash256 ties = seed.finish();
    const Amount least = contracts::read_market_params(*before_).least_base_price;
    for (auto& [kind, market] : classes_) {
        market.seed = ties;
        market.base_price = contracts::base_price_for(*before_, kind, epoch_, least);
    }
}

void ClearedMarket::clear() {
    for (const auto& [kind, market] : classes_) {
        const auto& sorted = sorted_.emplace(kind, contracts::SortedClass(market)).first->second;
        outcomes_.emplace(kind, contracts::clear_class(sorted));
    }
}

bool ClearedMarket::agrees() const {
    using Leased = std::tuple<Hash256, PublicKey, Amount>;
    std::set<Leased> leased;
    std::map<LotClass, std::uint64_t> sold;
    for (const Event& event : told_) {
        if (event.kind == EventKind::kLeased && event.number == epoch_)
            leased.insert({event.job, event.node, event.amount});
    }
    for (const auto& [kind, market] : classes_) {
        const auto& matches = outcomes_.at(kind).matches;
        sold[kind] = matches.size();
        for (const contracts::Match& match : matches)
            if (!leased.contains({market.bids[match.bid].job, market.asks[match.ask].node, match.price}))
                return false;
    }
    for (const Event& event : told_) {
        if (event.kind != EventKind::kClassCleared) continue;
        const auto found = std::ranges::find_if(
            classes_, [&](const auto& one) { return contracts::number_of(one.first) == event.slot; });
        if (found == classes_.end() || found->second.base_price != event.amount ||
            found->second.asks.size() != event.round || sold[found->first] != event.number)
            return false;
    }
    return true;
}

Reason ClearedMarket::refusal_at(const BidWhy& bid, Amount price) const {
    // The opening would have refused a price above the cap; a clearing never sees one.
    if (const auto fits = contracts::check_fits(*before_, bid.job, bid.kind, price); !fits)
        return fits.error();
    // Where nothing but the market falls due, the clearing finds the escrow as it stands here.
    const auto due = contracts::first_due(*before_, {}, block_.height);
    if (due && due->kind == contracts::DueKind::kMarket) {
        const auto covered = contracts::check_cover(*before_, bid.job, bid.kind, price);
        return covered ? Reason::kNone : covered.error();
    }
    contracts::Overlay other(*before_);
    contracts::LotBid record = *contracts::read_lot_bid(*before_, bid.job);
    record.price = price;
    contracts::store(other, contracts::lot_bid_key(bid.job), record);
    for (const Event& event : contracts::foresee_block(other, block_))
        if (event.kind == EventKind::kBidLost && event.job == bid.job && event.reason != Reason::kOutbid)
            return event.reason;
    return Reason::kNone;
}

std::optional<BidWhy> ClearedMarket::why_bid(const Hash256& job) const {
    const auto record = contracts::read_lot_bid(*before_, job);
    if (!record) return std::nullopt;
    BidWhy why{.epoch = epoch_,
               .cleared_at = block_.height,
               .foreseen = time_ == ClearingTime::kForeseen,
               .job = job};
    if (!record->opened) return why;
    why.kind = record->kind;
    why.lots = record->lots;
    why.price = record->price;
    if (const auto aside = bids_aside_.find(job); aside != bids_aside_.end()) {
        why.end = BidEnd::kSetAside;
        why.reason = aside->second;
        return why;
    }
    const ClassMarket& market = classes_.at(record->kind);
    const std::size_t place = place_of(market, job).value();
    why.base_price = market.base_price;
    why.offered = market.asks.size();
    for (const contracts::Match& match : outcomes_.at(record->kind).matches)
        if (match.bid == place) why.pays = match.price;
    why.least = contracts::critical_bid(sorted_.at(record->kind), place);
    if (why.pays) {
        why.end = BidEnd::kWon;
    } else if (market.asks.empty()) {
        why.end = BidEnd::kNoCapacity;
    } else if (market.asks.size() < why.lots) {
        why.end = BidEnd::kTooFewLots;
    } else if (!why.least) {
        why.end = BidEnd::kNoPrice;
    } else {
        why.end = why.price < why.base_price ? BidEnd::kBelowBase : BidEnd::kOutbid;
        why.least_refused = refusal_at(why, *why.least);
    }
    return why;
}

std::optional<AskWhy> ClearedMarket::why_ask(const PublicKey& node) const {
    const auto record = contracts::read_lot_ask(*before_, node);
    if (!record) return std::nullopt;
    AskWhy why{.epoch = epoch_,
               .cleared_at = block_.height,
               .foreseen = time_ == ClearingTime::kForeseen,
               .node = node};
    if (!record->opened) return why;
    why.kind = record->kind;
    why.price = record->price;
    if (asks_aside_.contains(node)) {
        why.end = AskEnd::kSetAside;
        why.reason = Reason::kClassTooFast;
        return why;
    }
    const ClassMarket& market = classes_.at(record->kind);
    const std::size_t place = place_of(market, node).value();
    why.base_price = market.base_price;
    for (const contracts::ClassBid& bid : market.bids) why.wanted += bid.lots;
    for (const contracts::Match& match : outcomes_.at(record->kind).matches)
        if (match.ask == place) why.gets = match.price;
    why.most = contracts::critical_ask(sorted_.at(record->kind), place);
    why.end = why.gets ? AskEnd::kSold : why.most ? AskEnd::kTooDear : AskEnd::kNotWanted;
    why.left = !why.gets && why.price <= why.base_price;
    return why;
}

std::optional<WaitWhy> ClearedMarket::why_wait(const Hash256& job) const {
    const auto record = contracts::read_lot_wait(*before_, job);
    if (!record) return std::nullopt;
    WaitWhy why{.epoch = epoch_,
                .cleared_at = block_.height,
                .foreseen = time_ == ClearingTime::kForeseen,
                .job = job,
                .kind = record->kind,
                .lots = record->lots,
                .served = true};
    for (const Event& event : told_)
        if (event.kind == EventKind::kBidLost && event.job == job &&
            event.slot == contracts::number_of(why.kind) && event.amount.is_zero() &&
            event.reason == Reason::kOutbid)
            why.served = false;
    std::uint64_t instant = 0;
    if (const auto found = classes_.find(why.kind); found != classes_.end()) {
        const ClassMarket& market = found->second;
        why.base_price = market.base_price;
        const auto& matches = outcomes_.at(why.kind).matches;
        std::set<std::size_t> sold;
        for (const contracts::Match& match : matches) sold.insert(match.ask);
        for (std::size_t ask = 0; ask < market.asks.size(); ++ask)
            why.left += !sold.contains(ask) && market.asks[ask].price <= market.base_price ? 1U : 0U;
        for (const Event& event : told_)
            instant += event.kind == EventKind::kLeased && event.number == epoch_ &&
                               event.slot == contracts::number_of(why.kind)
                           ? 1U
                           : 0U;
        instant -= matches.size();
    }
    why.others = why.served ? instant - why.lots : instant;
    return why;
}

std::string BidWhy::text() const {
    const std::string begin = begin_text(epoch, foreseen);
    if (end == BidEnd::kNotOpened) return begin + "the bid stayed sealed, and its deposit was burned";
    const std::string bid =
        "the bid of " + price_text(price) + " for " + count_text(lots, "lot") + " of " + class_code(kind);
    const auto counterfactual = [&] {
        std::string text = base::to_text(*least) + " would have won";
        if (!least->is_zero()) text += ", one base unit less would have lost";
        if (least_refused != Reason::kNone)
            text += "; the rules would have refused that bid (" +
                    std::string(contracts::to_text(least_refused)) +
                    "): " + std::string(contracts::explain(least_refused));
        return text;
    };
    switch (end) {
        case BidEnd::kWon:
            return begin + bid + " won, and pays " + price_text(*pays) +
                   ", the least at which it would have won";
        case BidEnd::kOutbid: return begin + bid + " lost: " + counterfactual();
        case BidEnd::kBelowBase:
            return begin + bid + " is below the base price of " + base::to_text(base_price) +
                   " and lost: " + counterfactual();
        case BidEnd::kNoCapacity: return begin + bid + " lost: nobody offered a lot of that class";
        case BidEnd::kTooFewLots:
            return begin + bid + " lost at any price: " + count_text(offered, "lot") +
                   (offered == 1 ? " was" : " were") + " offered";
        case BidEnd::kNoPrice: return begin + bid + " lost: no price that there is would have won";
        case BidEnd::kSetAside:
            return begin + bid + " was set aside (" + std::string(contracts::to_text(reason)) +
                   "): " + std::string(contracts::explain(reason));
        case BidEnd::kNotOpened: break;
    }
    return begin + bid;
}

std::string AskWhy::text() const {
    const std::string begin = begin_text(epoch, foreseen);
    if (end == AskEnd::kNotOpened) return begin + "the lot stayed sealed, and its deposit was burned";
    const std::string ask = "the lot of " + class_code(kind) + " at " + price_text(price);
    const std::string behind = left ? "; it is left for whoever takes it at the base price" : "";
    switch (end) {
        case AskEnd::kSold:
            return begin + ask + " was sold for " + price_text(*gets) + "; up to " + base::to_text(*most) +
                   " it would have been sold as well, and not at one base unit more";
        case AskEnd::kTooDear:
            return begin + ask + " was not sold: " + base::to_text(*most) +
                   " would have been, one base unit more would not" + behind;
        case AskEnd::kNotWanted:
            return begin + ask + " was not sold, and would not have been at any price: bids were for " +
                   count_text(wanted, "lot") + ", and the base price is " + base::to_text(base_price) +
                   behind;
        case AskEnd::kSetAside:
            return begin + ask + " was set aside (" + std::string(contracts::to_text(reason)) +
                   "): " + std::string(contracts::explain(reason));
        case AskEnd::kNotOpened: break;
    }
    return begin + ask;
}

std::string WaitWhy::text() const {
    const std::string wait = begin_text(epoch, foreseen) + "waiting for " + count_text(lots, "lot") + " of " +
                             class_code(kind) + " at the base price";
    if (served) return wait + " had them, at " + price_text(base_price);
    return wait + " had none: the auction left " + std::to_string(left) + ", of which " +
           std::to_string(others) +
           " went to others who waited; who is owed most is first, and takes all of its number or nothing, "
           "if "
           "its escrow covers the base price";
}

}  // namespace assay::node
