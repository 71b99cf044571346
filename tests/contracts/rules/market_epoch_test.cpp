// SPDX-License-Identifier: Apache-2.0
// The specification of an epoch of the market between jobs (decision 86): what is sealed, opened, cleared,
// leased and given back. After every transaction and every block money is conserved and the state is whole
// (Env).
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/market/book.hpp"
#include "contracts/rules/state/limits.hpp"
#include "tests/contracts/rules/market_world.hpp"

namespace assay::contracts::test {

TEST_CASE("market: an idle market makes no block, the first seal starts its clock") {
    MarketWorld w;
    CHECK(w.clock().phase == MarketPhase::kStopped);
    CHECK(list_due(w.env.state(), UINT64_MAX).size() == 2);  // of the two jobs
    w.seal_lot("m1", {100});
    const MarketClock clock = w.clock();
    CHECK(clock.phase == MarketPhase::kSealing);
    CHECK(clock.start == w.env.height());
    CHECK(clock.open_at == clock.start + 5);
    CHECK(clock.clear_at == clock.start + 10);
    CHECK(clock.end == clock.start + 20);
    CHECK(list_due(w.env.state(), clock.open_at).back().kind == DueKind::kMarket);
    w.open_and_clear();
    CHECK(w.clock().phase == MarketPhase::kNotice);
    w.to_next_epoch();
    // Nothing is leased and nobody waits.
    CHECK(w.clock().phase == MarketPhase::kStopped);
    CHECK(w.clock().epoch == 2);
    CHECK(list_due(w.env.state(), UINT64_MAX).size() == 2);
}

TEST_CASE("market: winners pay their critical price, sellers get it, and leases hold for the next epoch") {
    MarketWorld w;
    w.seal_lot("m1", {100});
    w.seal_lot("m2", {200});
    w.seal_lot("m3", {300});
    w.seal_bid("buyer", {2, 500});
    w.seal_bid("other", {1, 400});
    CHECK(w.clock().lots == 3);
    CHECK(w.clock().bids == 2);
    w.open_and_clear();
    CHECK(w.clock().lots == 0);
    CHECK(w.clock().bids == 0);
    // Below 300 the first job would not get its second lot, and the second job not its one.
    const auto leases = w.leases("buyer");
    REQUIRE(leases.size() == 2);
    CHECK(w.leases_node("buyer", "m1"));
    CHECK(w.leases_node("buyer", "m2"));
    CHECK(w.leases_node("other", "m3"));
    for (const Lease& lease : leases) {
        CHECK(lease.price == amount(300));
        CHECK(lease.epoch == 2);
        CHECK(lease.from == w.clock().end);
        CHECK(lease.until == w.clock().end + w.params().epoch);
        CHECK(lease.owner == w.env.by_node(lease.node).owner_key());
        CHECK_FALSE(lease.instant);
    }
    CHECK(w.leases("other").front().price == amount(300));
    const ClassEpoch cleared = *read_class_epoch(w.env.state(), kFast, 2);
    CHECK(cleared.offered == 3);
    CHECK(cleared.sold == 3);
    CHECK(cleared.wanted == 3);
    CHECK(cleared.lowest == amount(300));
    CHECK(cleared.highest == amount(300));
    // They hold from the next epoch's first height to its last.
    CHECK(leases_at(w.env.state(), w.first, w.env.height()).empty());
    w.to_next_epoch();
    CHECK(leases_at(w.env.state(), w.first, w.env.height()).size() == 2);
    CHECK(w.clock().phase == MarketPhase::kSealing);
    w.env.advance_to(w.clock().end - 1);
    CHECK(leases_at(w.env.state(), w.first, w.env.height()).size() == 2);
    w.env.next_block();
    CHECK(w.leases("buyer").empty());
    CHECK(w.clock().phase == MarketPhase::kStopped);
}

TEST_CASE("market: deposits come back with the opening, and losing costs nothing") {
    MarketWorld w;
    const Amount stake = w.free_stake("m1");
    const Amount escrow = w.escrow("other");
    const Amount burned = w.burned();
    w.seal_lot("m1", {100});
    w.seal_bid("buyer", {1, 500});
    w.seal_bid("other", {1, 400});
    CHECK(w.free_stake("m1") == *stake.minus(w.params().lot_deposit));
    CHECK(w.escrow("other") == *escrow.minus(w.params().bid_deposit));
    CHECK(read_seal_cost(w.env.state(), w.second) == w.params().bid_deposit);
    w.to_opening();
    w.env.send(w.env.person("other"), w.bid_opening("other"));
    CHECK(w.escrow("other") == escrow);
    CHECK(read_seal_cost(w.env.state(), w.second).is_zero());
    CHECK(w.env.job(w.second).spent.is_zero());
    w.env.send(w.env.person("buyer"), w.bid_opening("buyer"));
    w.env.send(w.env.person("m1"), w.lot_opening("m1"));
    w.to_clearing();
    CHECK(w.leases("other").empty());
    REQUIRE(w.leases("buyer").size() == 1);
    // The other's price, or one unit more where a tie with it would be lost.
    const std::uint64_t price = w.leases("buyer").front().price.units();
    CHECK(price >= 400);
    CHECK(price <= 401);
    REQUIRE(w.told(EventKind::kBidLost).size() == 1);
    CHECK(w.told(EventKind::kBidLost).front().job == w.second);
    CHECK(w.told(EventKind::kBidLost).front().reason == Reason::kOutbid);
    CHECK(w.burned() == burned);
    // Nobody measured m1 yet: what stands behind its class comes back with the end of its lease.
    CHECK(w.free_stake("m1") == *stake.minus(w.params().lot_deposit));
    w.to_next_epoch();
    w.to_next_epoch();
    CHECK(w.free_stake("m1") == stake);
}

TEST_CASE("market: a job that too few could judge wins no lots, and drives up no price") {
    MarketWorld w;
    const std::uint32_t enlisted = GENERATE(0U, 1U, 2U);
    CAPTURE(enlisted);
    w.second = w.env.post(market_job(), "other");  // v1 and v2 do not know it
    const auto enlist = [&](std::uint32_t many) {
        for (std::uint32_t i = 0; i < many; ++i) w.env.enlist(i == 0 ? "v1" : "v2", w.second);
    };
    enlist(enlisted);
    const Amount escrow = w.escrow("other");
    const Amount before = base_price_for(w.env.state(), kFast, 2, w.params().least_base_price);
    for (const char* name : {"m1", "m2", "m3"}) w.seal_lot(name, {1});
    w.seal_bid("other", {3, 900});
    w.open_and_clear();
    const bool judged = enlisted == 2;
    CHECK(w.leases("other").size() == (judged ? 3U : 0U));
    CHECK(w.escrow("other") == escrow);
    const ClassEpoch cleared = *read_class_epoch(w.env.state(), kFast, 2);
    CHECK(cleared.bids == (judged ? 1U : 0U));
    CHECK(cleared.sold == (judged ? 3U : 0U));
    CHECK((base_price_for(w.env.state(), kFast, 3, w.params().least_base_price) > before) == judged);
    const auto lost = w.told(EventKind::kBidLost);
    REQUIRE(lost.size() == (judged ? 0U : 1U));
    if (judged) return;
    CHECK(lost.front().reason == Reason::kTooFewJudges);
    CHECK(lost.front().job == w.second);
    // Nor does it lease what is left, until somebody can judge it.
    w.to_next_epoch();
    w.env.next_block();
    const LeaseTake left{w.second, kFast, 1, false};
    w.env.refuse(Reason::kTooFewJudges, w.env.person("other"), left);
    if (enlisted == 0) enlist(1);
    w.env.enlist("v2", w.second);
    w.env.send(w.env.person("other"), left);
    CHECK(w.leases("other").size() == 1);
}

TEST_CASE("market: a job that holds an auction of its own takes no part") {
    MarketWorld w;
    JobSpec spec = market_job();
    spec.market.terms = {};
    const Hash256 plain = w.env.post(spec);
    w.env.refuse(Reason::kNoMarketTerms, w.env.person("buyer"), BidSeal{plain, bytes_of("seal")});
    w.env.refuse(Reason::kNoMarketTerms, w.env.person("buyer"), LeaseTake{plain, kFast, 1, false});
}

TEST_CASE("market: what is sealed and not opened is burned") {
    MarketWorld w;
    const Amount burned = w.burned();
    const Amount escrow = w.escrow("buyer");
    w.seal_lot("m1", {100});
    w.seal_bid("buyer", {1, 500});
    w.to_clearing();
    CHECK(w.burned() == *burned.plus(w.params().lot_deposit)->plus(w.params().bid_deposit));
    CHECK(w.escrow("buyer") == *escrow.minus(w.params().bid_deposit));
    CHECK(w.env.job(w.first).spent == w.params().bid_deposit);
    CHECK(read_miner(w.env.state(), w.env.person("m1").node_key())->forfeited == w.params().lot_deposit);
    CHECK(w.told(EventKind::kSealLost).size() == 2);
    for (const Event& event : w.told(EventKind::kSealLost)) CHECK(event.reason == Reason::kSealNotOpened);
    CHECK(w.leases("buyer").empty());
    CHECK(w.clock().lots == 0);
    // The job ends with what is left, and the record of what it cost leaves with it.
    w.env.send(w.env.person("buyer"), JobCancel{w.first});
    CHECK(w.env.job(w.first).refunded == *escrow.minus(w.params().bid_deposit));
    w.env.next_block();
    CHECK_FALSE(w.env.state().get(seal_cost_key(w.first)));
    CHECK(read_ended_job(w.env.state(), w.first)->spent == w.params().bid_deposit);
}

TEST_CASE("market: one side alone, and none, come to nothing") {
    for (const bool lots : {false, true}) {
        for (const bool bids : {false, true}) {
            if (lots && bids) continue;
            MarketWorld w;
            if (lots) w.seal_lot("m1", {100});
            if (bids) w.seal_bid("buyer", {1, 500});
            if (!lots && !bids)  // what starts the clock
                w.env.send(w.env.person("other"), LeaseTake{w.second, kFast, 1, true});
            w.open_and_clear();
            CHECK(w.leases("buyer").empty());
            w.to_next_epoch();
            CHECK(w.clock().phase == MarketPhase::kStopped);
            CHECK(read_class_book(w.env.state(), kFast).has_value() == lots);
        }
    }
}

TEST_CASE("market: a bid below every ask loses, and one lot too many is nothing") {
    MarketWorld w;
    w.seal_lot("m1", {100});
    w.seal_lot("m2", {900});
    w.seal_bid("buyer", {1, 99});
    w.seal_bid("other", {3, 1'000});
    w.open_and_clear();
    CHECK(w.leases("buyer").empty());
    CHECK(w.leases("other").empty());
    CHECK(w.told(EventKind::kBidLost).size() == 2);
}

TEST_CASE("market: who may offer and bid, when, and for how much") {
    MarketWorld w;
    Person& buyer = w.env.person("buyer");
    Person& m1 = w.env.person("m1");
    w.env.refuse(Reason::kNotMiner, buyer, LotSeal{bytes_of("seal")});
    w.env.refuse(Reason::kNotYours, m1, BidSeal{w.first, bytes_of("seal")});
    w.env.refuse(Reason::kUnknownJob, buyer, BidSeal{bytes_of("no job"), bytes_of("seal")});
    w.env.refuse(Reason::kWrongWindow, m1, LotOpen{kFast, amount(1), 1, bytes_of("salt")});
    w.env.refuse(Reason::kNoSuchLot, m1, LotWithdraw{});
    w.seal_lot("m1", {100});
    w.env.refuse(Reason::kLotStands, m1, LotSeal{bytes_of("second")});  // one lot a node and epoch
    w.env.refuse(Reason::kNoSuchLot, m1, LotWithdraw{});                // nor one that is only sealed
    w.env.refuse(Reason::kWrongWindow, m1, w.lot_opening("m1"));
    w.seal_bid("buyer", {1, 500});
    w.env.refuse(Reason::kAlreadyDone, buyer, BidSeal{w.first, bytes_of("second")});
    w.env.refuse(Reason::kWrongWindow, buyer, w.bid_opening("buyer"));
    w.to_opening();
    w.env.refuse(Reason::kWrongWindow, w.env.person("m2"), LotSeal{bytes_of("late")});
    w.env.refuse(Reason::kWrongWindow, w.env.person("other"), BidSeal{w.second, bytes_of("late")});
    w.env.refuse(Reason::kNoSeal, w.env.person("m2"), w.lot_opening("m1"));
    w.env.refuse(Reason::kNoSeal, w.env.person("other"), [&] {
        BidOpen opening = w.bid_opening("buyer");
        opening.job = w.second;
        return opening;
    }());
    // Another price, class, number, standing or salt than was sealed.
    LotOpen lot = w.lot_opening("m1");
    lot.price = amount(99);
    w.env.refuse(Reason::kSealMismatch, m1, lot);
    lot = w.lot_opening("m1");
    lot.epochs = 2;
    w.env.refuse(Reason::kSealMismatch, m1, lot);
    lot = w.lot_opening("m1");
    lot.kind.network = 9;
    w.env.refuse(Reason::kSealMismatch, m1, lot);
    BidOpen bid = w.bid_opening("buyer");
    bid.lots = 2;
    w.env.refuse(Reason::kSealMismatch, buyer, bid);
    bid = w.bid_opening("buyer");
    bid.salt = bytes_of("another");
    w.env.refuse(Reason::kSealMismatch, buyer, bid);
    w.env.send(m1, w.lot_opening("m1"));
    w.env.refuse(Reason::kAlreadyDone, m1, w.lot_opening("m1"));
    w.env.send(buyer, w.bid_opening("buyer"));
    w.env.refuse(Reason::kAlreadyDone, buyer, w.bid_opening("buyer"));
}

TEST_CASE("market: bytes that name no lot are refused before the state is looked at") {
    MarketWorld w;
    Person& m1 = w.env.person("m1");
    Person& buyer = w.env.person("buyer");
    LotClass none = kFast;
    none.speed = kMaxSpeedBits + 1;
    w.env.refuse(Reason::kBadClass, m1, LotOpen{none, amount(1), 1, bytes_of("salt")});
    w.env.refuse(Reason::kMalformed, m1, LotOpen{kFast, amount(1), 0, bytes_of("salt")});
    w.env.refuse(Reason::kMalformed, m1, LotOpen{kFast, amount(1), kMaxStanding + 1, bytes_of("salt")});
    w.env.refuse(Reason::kBadClass, buyer, BidOpen{w.first, none, 1, amount(1), bytes_of("salt")});
    w.env.refuse(Reason::kWrongLots, buyer, BidOpen{w.first, kFast, 0, amount(1), bytes_of("salt")});
    w.env.refuse(Reason::kWrongLots, buyer, LeaseTake{w.first, kFast, 0, false});
    w.env.refuse(Reason::kWrongLots, buyer, LeaseTake{w.first, kFast, kMaxLotsTaken + 1, false});
    // A profile that there is none of, by its number.
    Bytes bytes = base::encode(kFast);
    bytes.front() = 9;
    CHECK(base::decode<LotClass>(bytes).error() == base::DecodeError::kBadEnum);
}

TEST_CASE("market: a bid is opened only within the job's terms and its escrow") {
    const auto refused = [](MarketWorld::Wish wish, Reason reason) {
        MarketWorld w;
        w.seal_bid("buyer", wish);
        w.to_opening();
        w.env.refuse(reason, w.env.person("buyer"), w.bid_opening("buyer"));
    };
    refused({5, 500}, Reason::kWrongLots);  // of four slots
    refused({1, 1'001}, Reason::kPriceAboveCap);
    refused({1, base::kAmountMax}, Reason::kPriceAboveCap);
    refused({1, 500, {program::Profile::kI16, 10, 5, 8}}, Reason::kBadClass);
}

TEST_CASE("market: a bid whose round the escrow does not cover is set aside at the clearing") {
    MarketWorld w;
    // Its escrow covers one round at its cap, and nothing beside it.
    JobSpec poor = market_job();
    poor.market.budget = quote_job(w.env.params(), poor)->round_cost;
    const Hash256 job = w.post(poor);
    Person& buyer = w.env.person("buyer");
    const Hash256 salt = bytes_of("poor");
    const BidOpen dear{job, kFast, 1, amount(1'000), salt};
    const BidSeal seal{job, bid_seal(w.env.chain(), job, kFast, 1, amount(1'000), salt)};
    w.env.send(buyer, seal);
    w.to_opening();
    w.env.send(buyer, dear);  // the deposit counts, since it comes back
    CHECK(w.env.job(job).escrow == poor.market.budget);
    w.to_next_epoch();
    w.env.send(buyer, seal);
    w.to_next_epoch();  // not opened: the deposit is burned
    w.env.send(buyer, seal);
    w.to_opening();
    w.env.send(buyer, dear);
    const Amount burned = w.burned();
    w.to_clearing();
    REQUIRE_FALSE(w.told(EventKind::kBidLost).empty());
    CHECK(w.told(EventKind::kBidLost).back().job == job);
    CHECK(w.told(EventKind::kBidLost).back().reason == Reason::kEscrowTooSmall);
    CHECK(w.burned() == burned);
    // A job that is over by the clearing gets nothing.
    w.to_next_epoch();
    w.seal_lot("m1", {1});
    w.seal_bid("buyer", {1, 500});
    w.to_opening();
    w.env.send(w.env.person("m1"), w.lot_opening("m1"));
    w.env.send(buyer, w.bid_opening("buyer"));
    w.env.send(buyer, JobCancel{w.first});
    w.to_clearing();
    REQUIRE_FALSE(w.told(EventKind::kBidLost).empty());
    CHECK(w.told(EventKind::kBidLost).back().job == w.first);
    CHECK(w.told(EventKind::kBidLost).back().reason == Reason::kJobOver);
    CHECK(w.leases("buyer").empty());
}

TEST_CASE("market: prices at the edges of money neither overflow nor leave anybody unpaid") {
    MarketWorld w;
    w.seal_lot("m1", {0});
    w.seal_lot("m2", {base::kAmountMax});
    w.seal_bid("buyer", {1, 0});
    w.seal_bid("other", {1, 1'000});
    w.open_and_clear();
    // An ask counts as the base price at least, so that a bid of nothing buys nothing.
    CHECK(w.leases("buyer").empty());
    REQUIRE(w.leases("other").size() == 1);
    CHECK(w.leases_node("other", "m1"));
    CHECK(w.leases("other").front().price == w.params().least_base_price);
    w.to_next_epoch();
    w.env.refuse(Reason::kTooFewLots, w.env.person("buyer"), LeaseTake{w.first, kFast, 1, false});
}

TEST_CASE("market: classes are cleared apart") {
    MarketWorld w;
    w.seal_lot("m1", {100, kFast});
    w.seal_lot("m2", {10, kSlow});
    w.seal_bid("buyer", {1, 500, kSlow});
    w.seal_bid("other", {1, 500, kFast});
    w.open_and_clear();
    CHECK(w.leases_node("buyer", "m2"));
    CHECK(w.leases_node("other", "m1"));
    CHECK(list_class_books(w.env.state()).size() == 2);
    REQUIRE(w.told(EventKind::kClassCleared).size() == 2);
    CHECK(w.told(EventKind::kClassCleared).front().slot == number_of(kSlow));
}

}  // namespace assay::contracts::test
