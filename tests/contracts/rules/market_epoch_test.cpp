// SPDX-License-Identifier: Apache-2.0
// The specification of an epoch of the market between jobs (decision 86): what is sealed, opened, cleared,
// leased and given back. After every transaction and every block money is conserved and the state is whole
// (Env).
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"
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
    CHECK(w.leases("buyer").front().price == amount(400));
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

TEST_CASE("market: a bid whose round the escrow does not cover is refused, at the clearing too") {
    MarketWorld w;
    // Its escrow covers one round at its cap, and nothing beside it.
    JobSpec poor = market_job();
    poor.market.budget = quote_job(w.env.params(), poor)->round_cost;
    const Hash256 job = w.env.post(poor);
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
    w.env.refuse(Reason::kEscrowTooSmall, buyer, dear);
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

TEST_CASE("market: a lot stands for its epochs, and no longer once it is withdrawn") {
    MarketWorld w;
    w.seal_lot("m1", {1, kFast, 3});
    w.open_and_clear();
    CHECK(read_lot_ask(w.env.state(), w.env.person("m1").node_key())->epochs == 2);
    w.to_next_epoch();
    w.seal_bid("buyer", {1, 500});  // starts the clock again
    w.env.refuse(Reason::kLotStands, w.env.person("m1"), LotSeal{bytes_of("again")});
    w.open_and_clear();
    CHECK(w.leases_node("buyer", "m1"));
    w.to_next_epoch();
    // It is withdrawn in the epoch that it is leased in: the lease holds, the next one is not offered.
    w.env.send(w.env.person("m1"), LotWithdraw{});
    CHECK(w.leases_node("buyer", "m1"));
    w.seal_bid("buyer", {1, 500});
    w.open_and_clear();
    CHECK(w.leases("buyer").size() == 1);
    w.to_next_epoch();
    CHECK(w.leases("buyer").empty());
    CHECK(w.free_stake("m1") == amount(kPlenty));
}

TEST_CASE("market: lots that are left are leased at once, at the base price, till the epoch ends") {
    MarketWorld w;
    w.seal_lot("m1", {1});
    w.seal_lot("m2", {1});
    w.seal_lot("m3", {20});  // above the base price: for the auction alone
    w.seal_bid("buyer", {1, 500});
    w.open_and_clear();
    REQUIRE(w.leases("buyer").size() == 1);
    const Person& other = w.env.person("other");
    w.env.refuse(Reason::kTooFewLots, w.env.person("other"), LeaseTake{w.second, kFast, 1, false});
    w.to_next_epoch();
    w.env.next_block();
    w.env.refuse(Reason::kTooFewLots, w.env.person("other"), LeaseTake{w.second, kFast, 2, false});
    w.env.refuse(Reason::kWrongLots, w.env.person("other"), LeaseTake{w.second, kFast, 5, false});
    w.env.send(w.env.person("other"), LeaseTake{w.second, kFast, 1, false});
    REQUIRE(w.leases("other").size() == 1);
    const Lease lease = w.leases("other").front();
    CHECK(lease.instant);
    CHECK(lease.price == w.params().least_base_price);
    CHECK(lease.from == w.env.height());
    CHECK(lease.until == w.clock().end);
    CHECK(read_class_epoch(w.env.state(), kFast, 2)->instant == 1);
    CHECK(read_tenant(w.env.state(), other.owner_key(), kFast).received == 1'000);
    w.env.refuse(Reason::kTooFewLots, w.env.person("other"), LeaseTake{w.second, kFast, 1, false});
    w.to_next_epoch();
    CHECK(w.leases("other").empty());
}

TEST_CASE("market: an instant lease where the clock stands still begins the epoch anew") {
    MarketWorld w;
    w.seal_lot("m1", {1});
    w.open_and_clear();
    w.to_next_epoch();
    REQUIRE(w.clock().phase == MarketPhase::kStopped);
    w.env.advance_to(w.env.height() + 100);
    w.env.send(w.env.person("buyer"), LeaseTake{w.first, kFast, 1, false});
    CHECK(w.clock().phase == MarketPhase::kSealing);
    CHECK(w.clock().epoch == 2);
    REQUIRE(w.leases("buyer").size() == 1);
    CHECK(w.leases("buyer").front().until == w.env.height() + w.params().epoch);
}

TEST_CASE("market: who waits gets what the clearing leaves, the most deprived first") {
    MarketWorld w;
    // "other" was outbid once: it is owed a half lot.
    w.seal_lot("m1", {1});
    w.seal_bid("buyer", {1, 500});
    w.seal_bid("other", {1, 400});
    w.open_and_clear();
    CHECK(read_tenant(w.env.state(), w.env.person("other").owner_key(), kFast).owed() == 500);
    CHECK(read_tenant(w.env.state(), w.env.person("buyer").owner_key(), kFast).received == 1'000);
    w.to_next_epoch();
    for (const char* name : {"buyer", "other"}) {
        Person& who = w.env.person(name);
        w.env.send(who, LeaseTake{w.job_of(name), kFast, 1, true});
        w.env.refuse(Reason::kAlreadyDone, who, LeaseTake{w.job_of(name), kFast, 1, true});
    }
    w.seal_lot("m2", {1});
    w.open_and_clear();
    CHECK(w.leases_node("other", "m2"));
    CHECK(w.leases("buyer").size() == 1);  // of the running epoch
    CHECK(list_lot_waits(w.env.state()).empty());
    CHECK(w.leases("other").front().instant);
    // Both counts have halved, and the lot counts as received.
    const TenantCount count = read_tenant(w.env.state(), w.env.person("other").owner_key(), kFast);
    CHECK(count.entitled == 250);
    CHECK(count.received == 1'000);
}

TEST_CASE("market: whoever has fewer lots in the next epoch is told while this one lasts") {
    MarketWorld w;
    w.seal_lot("m1", {1, kFast, 2});
    w.seal_lot("m2", {1, kFast, 2});
    w.seal_bid("buyer", {2, 500});
    w.open_and_clear();
    w.to_next_epoch();
    CHECK(w.told(EventKind::kLotsLost).empty());
    w.seal_bid("buyer", {1, 500});
    w.seal_bid("other", {1, 600});
    w.open_and_clear();
    REQUIRE(w.told(EventKind::kLotsLost).size() == 1);
    CHECK(w.told(EventKind::kLotsLost).front().job == w.first);
    CHECK(w.told(EventKind::kLotsLost).front().number == 1);
    CHECK(w.env.height() < w.clock().end);
    CHECK(w.leases("buyer").size() == 3);  // two of this epoch, one of the next
}

TEST_CASE("market: the lots of a job that ends are left for others") {
    MarketWorld w;
    w.seal_lot("m1", {1});
    w.seal_lot("m2", {500});
    w.seal_bid("buyer", {2, 900});
    w.open_and_clear();
    w.to_next_epoch();
    REQUIRE(w.leases("buyer").size() == 2);
    w.env.send(w.env.person("buyer"), JobCancel{w.first});
    CHECK(w.leases("buyer").empty());
    w.env.send(w.env.person("other"), LeaseTake{w.second, kFast, 1, false});
    CHECK(w.leases_node("other", "m1"));
    // m2 asks more than the base price.
    w.env.refuse(Reason::kTooFewLots, w.env.person("other"), LeaseTake{w.second, kFast, 1, false});
    CHECK(w.free_stake("m2") == amount(kPlenty));
}

TEST_CASE("market: a lot of a revoked key is neither cleared nor leased") {
    MarketWorld w;
    w.seal_lot("m1", {1, kFast, 5});
    w.seal_lot("m2", {1, kFast, 5});
    w.open_and_clear();
    Person& m1 = w.env.person("m1");
    w.env.send(m1, NodeRevoke{m1.node_key()});
    w.to_next_epoch();
    w.env.refuse(Reason::kTooFewLots, w.env.person("buyer"), LeaseTake{w.first, kFast, 2, false});
    w.env.send(w.env.person("buyer"), LeaseTake{w.first, kFast, 1, false});
    CHECK(w.leases_node("buyer", "m2"));
    w.open_and_clear();
    CHECK_FALSE(read_lot_ask(w.env.state(), m1.node_key()));
    REQUIRE(w.told(EventKind::kLotGone).size() == 1);
    CHECK(w.told(EventKind::kLotGone).front().reason == Reason::kKeyRevoked);
}

TEST_CASE("market: base prices follow the lots that are sold, and only the last epochs are kept") {
    MarketWorld w;
    for (const char* name : {"m1", "m2"}) w.seal_lot(name, {1, kFast, 20});
    std::uint64_t base = w.params().least_base_price.units();
    for (std::uint64_t epoch = 2; epoch < 8; ++epoch) {
        w.seal_bid("buyer", {2, 500});
        w.open_and_clear();
        const ClassEpoch cleared = *read_class_epoch(w.env.state(), kFast, epoch);
        CHECK(cleared.sold == 2);
        CHECK(cleared.base_price.units() >= base);
        CHECK(cleared.base_price.units() <= base + base / 8 + 1);
        base = cleared.base_price.units();
        w.to_next_epoch();
    }
    CHECK(base > w.params().least_base_price.units());
    CHECK(list_class_epochs(w.env.state(), kFast).size() == w.params().history_epochs);
    CHECK(list_class_epochs(w.env.state(), kFast).front().first == 5);
}

TEST_CASE("market: a class in which nobody offers is forgotten after as many epochs as are kept") {
    MarketWorld w;
    w.seal_lot("m1", {1, kSlow});
    w.seal_lot("m2", {1, kFast, 20});
    for (int epoch = 0; epoch < 4; ++epoch) {
        w.seal_bid("buyer", {1, 500});
        w.open_and_clear();
        CHECK(read_class_book(w.env.state(), kSlow).has_value() == (epoch < 3));
        w.to_next_epoch();
    }
    CHECK(list_class_epochs(w.env.state(), kSlow).empty());
}

TEST_CASE("market: a state that is written and read in any phase goes on to the same end") {
    MarketWorld w;
    w.seal_lot("m1", {100, kFast, 2});
    w.seal_lot("m2", {1});
    w.seal_bid("buyer", {1, 500});
    w.to_opening();
    for (const char* name : {"m1", "m2"}) w.env.send(w.env.person(name), w.lot_opening(name));
    w.env.send(w.env.person("buyer"), w.bid_opening("buyer"));
    std::vector<Env> others;
    std::set<MarketPhase> phases;
    const std::uint64_t last = w.env.height() + 60;
    while (w.env.height() < last) {
        phases.insert(w.clock().phase);
        MemoryState copy;
        for (const auto& [key, value] : w.env.state().scan({})) copy.put(key, value);
        others.emplace_back(std::move(copy), w.env.height());
        w.env.next_block();
        if (w.env.height() % 3 == 0) others.clear();  // a few of every phase are enough
        for (Env& other : others) {
            other.next_block();
            REQUIRE(other.state().scan({}) == w.env.state().scan({}));
        }
    }
    CHECK(phases.size() == 4);
}

TEST_CASE("market: it holds no more lots and bids than it can clear") {
    MarketWorld w;
    w.seal_lot("m1", {1});
    w.seal_bid("buyer", {1, 500});
    MemoryState state;
    for (const auto& [key, value] : w.env.state().scan({})) state.put(key, value);
    MarketClock clock = w.clock();
    clock.lots = kMaxLots;
    clock.bids = kMaxBids;
    store(state, market_clock_key(), clock);
    const auto lot = w.env.sign(w.env.person("m2"), LotSeal{bytes_of("seal")});
    const auto bid = w.env.sign(w.env.person("other"), BidSeal{w.second, bytes_of("seal")});
    CHECK(apply_transaction(state, w.env.block(), lot).reason == Reason::kMarketFull);
    CHECK(apply_transaction(state, w.env.block(), bid).reason == Reason::kMarketFull);
    reasons_met().insert(Reason::kMarketFull);
    --clock.lots;
    --clock.bids;
    store(state, market_clock_key(), clock);
    CHECK(apply_transaction(state, w.env.block(), lot).applied);
    CHECK(apply_transaction(state, w.env.block(), bid).applied);
}

TEST_CASE("market: the check of a state finds a market that is not whole") {
    MarketWorld w;
    w.seal_lot("m1", {1});
    w.seal_lot("m2", {1});
    w.seal_bid("buyer", {1, 500});
    w.open_and_clear();
    REQUIRE(check_invariants(w.env.state()).ok());
    const Lease lease = w.leases("buyer").front();
    const auto broken_by = [&](const auto& change) {
        Overlay changes(w.env.state());
        change(changes);
        const bool whole = check_invariants(changes).ok();
        const bool changed = check_invariants(w.env.state(), changes).ok();
        CHECK(whole == changed);
        return !whole && !changed;
    };
    CHECK_FALSE(broken_by([](Overlay&) {}));
    CHECK(broken_by([&](Overlay& s) { s.erase(lease_key(lease.job, lease.node, lease.epoch)); }));
    CHECK(broken_by([&](Overlay& s) { s.erase(lot_key(lease.epoch, lease.node)); }));
    CHECK(broken_by([&](Overlay& s) {  // two jobs lease one machine
        Lease second = lease;
        second.job = w.second;
        store(s, lease_key(second.job, second.node, second.epoch), second);
    }));
    CHECK(broken_by([&](Overlay& s) {
        Lease other = lease;
        other.owner = w.env.person("buyer").owner_key();
        store(s, lease_key(lease.job, lease.node, lease.epoch), other);
    }));
    const PublicKey& left = w.env.person(w.leases_node("buyer", "m1") ? "m2" : "m1").node_key();
    CHECK(broken_by([&](Overlay& s) { s.erase(lot_left_key(2, kFast, amount(1), left)); }));
    CHECK(broken_by([&](Overlay& s) { s.put(lot_left_key(2, kFast, amount(7), left), {}); }));
    CHECK(broken_by([&](Overlay& s) {
        MarketClock clock = w.clock();
        ++clock.lots;
        store(s, market_clock_key(), clock);
    }));
    CHECK(broken_by([&](Overlay& s) {
        MarketClock clock = w.clock();
        clock.epoch += 2;
        store(s, market_clock_key(), clock);
    }));
    CHECK(broken_by([&](Overlay& s) { s.erase(deadline_key({w.clock().due(), DueKind::kMarket, {}})); }));
    CHECK(broken_by([&](Overlay& s) {
        s.put(deadline_key({w.clock().due() + 1, DueKind::kMarket, {}}), {});
    }));
    CHECK(broken_by([&](Overlay& s) {
        MarketParams params = w.params();
        params.epoch = 2;
        store(s, market_params_key(), params);
    }));
    // Whatever is gone, both checks say the same.
    int missed = 0;
    for (const auto& [key, value] : w.env.state().scan({})) {
        if (key.front() < static_cast<std::uint8_t>(Table::kMarketClock)) continue;
        CAPTURE(int{key.front()});
        const Bytes gone = key;
        missed += broken_by([&](Overlay& s) { s.erase(gone); }) ? 0 : 1;
    }
    CHECK(missed <= 3);  // what is owed to tenants, and the book of a class
}

TEST_CASE("market: a state of schema 11 gets the default parameters and nothing else") {
    Env env;
    MemoryState older;
    for (const auto& [key, value] : env.state().scan({})) older.put(key, value);
    older.erase(market_params_key());
    Meta meta = read_meta(older);
    meta.schema = 11;
    store(older, meta_key(), meta);
    REQUIRE(check_schema(older).ok());
    migrate(older);
    CHECK(read_market_params(older) == MarketParams{});
    older.put(market_params_key(), base::encode(short_epochs()));
    CHECK(older.scan({}) == env.state().scan({}));
}

TEST_CASE("market: a genesis names its parameters, or has the defaults and the bytes of before") {
    Env env;
    GenesisConfig config = env.configuration();
    CHECK(base::decode<GenesisConfig>(base::encode(config))->market == short_epochs());
    const std::size_t with = base::encode(config).size();
    config.market = {};
    const Bytes bytes = base::encode(config);
    CHECK(bytes.size() + base::encode(MarketParams{}).size() == with);
    CHECK(base::decode<GenesisConfig>(bytes)->market == MarketParams{});
    Bytes spelled_out = bytes;
    for (const std::uint8_t byte : base::encode(MarketParams{})) spelled_out.push_back(byte);
    CHECK_FALSE(base::decode<GenesisConfig>(spelled_out).ok());
    MemoryState state;
    config.market.seal_window = config.market.epoch;
    CHECK(genesis(state, config).error() == "market parameter out of range: epoch not above both windows");
    for (const MarketParamRange& range : market_param_ranges()) {
        MarketParams params;
        CHECK(range.get(params) >= range.minimum);
        CHECK(range.get(params) <= range.maximum);
        range.set(params, range.maximum + 1);
        CHECK(check_market_params(params) == std::string(range.name));
    }
}

}  // namespace assay::contracts::test
