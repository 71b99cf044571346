// SPDX-License-Identifier: Apache-2.0
// Lots behind the clearing: what stands for the next epochs, what is leased at once or waited for, who is
// told that it loses lots, and whose lots come free (decision 86).
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/market/working_lots.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/market_world.hpp"

namespace assay::contracts::test {

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

TEST_CASE("market: a lot that cannot hold a slot does not keep its job from another lot") {
    MarketWorld w;
    w.second = w.post(market_job(1), "other");
    for (const char* name : {"m1", "m2"}) w.seal_lot(name, {1});
    w.seal_bid("other", {1, 500});
    w.open_and_clear();
    w.to_next_epoch();
    w.env.next_block();
    REQUIRE(w.leases("other").size() == 1);
    const Lease lease = w.leases("other").front();
    Person& gone = w.env.person(w.leases_node("other", "m1") ? "m1" : "m2");
    const auto working = [&] { return count_working_lots(w.env.state(), w.env.job(w.second), 2); };
    const LeaseTake another{w.second, kFast, 1, false};

    const Amount bond =
        bond_at(w.env.state(), w.env.params(), w.env.job(w.second), gone.node_key(), lease.price);
    REQUIRE_FALSE(bond.is_zero());
    const Amount free = read_stake(w.env.state(), gone.node_key()).free;
    const bool revokes = GENERATE(false, true);
    CAPTURE(revokes);
    if (!revokes) {
        w.env.send(gone, StakeWithdraw{gone.node_key(), *free.minus(bond)});  // one bond is left
        CHECK(working() == 1);
    }
    w.env.refuse(Reason::kWrongLots, w.env.person("other"), another);
    if (revokes) {
        w.env.send(gone, NodeRevoke{gone.node_key()});
    } else {
        w.env.send(gone, StakeWithdraw{gone.node_key(), amount(1)});
    }
    CHECK(working() == 0);
    w.env.send(w.env.person("other"), another);
    CHECK(w.leases("other").size() == 2);
    CHECK(working() == 1);
    CHECK(count_leases(w.env.state(), w.second, 2) == 2);
    w.env.refuse(Reason::kTooFewLots, w.env.person("other"), another);
}

TEST_CASE(
    "market: a job leases at most twice as many lots as it may use, and names without stake fill nothing") {
    MarketWorld w;
    w.second = w.post(market_job(1), "other");
    for (const char* name : {"m1", "m2", "m3", "m4"}) w.seal_lot(name, {1});
    w.seal_bid("buyer", {1, 500});  // keeps the market going
    w.open_and_clear();
    for (const char* name : {"m1", "m2", "m3", "m4"}) {
        Person& who = w.env.person(name);
        w.env.send(who, StakeWithdraw{who.node_key(), read_stake(w.env.state(), who.node_key()).free});
    }
    w.to_next_epoch();
    w.env.next_block();
    const LeaseTake another{w.second, kFast, 1, false};
    w.env.send(w.env.person("other"), another);
    w.env.send(w.env.person("other"), another);
    CHECK(w.leases("other").size() == 2);
    CHECK(count_working_lots(w.env.state(), w.env.job(w.second), 2) == 0);
    REQUIRE(list_lots_left(w.env.state(), 2, kFast, 2).size() == 1);
    w.env.refuse(Reason::kWrongLots, w.env.person("other"), another);
    w.env.advance_to(last_of_enlistment(w.env.params(), w.env.job(w.second)) + 1);
    CHECK(w.env.job(w.second).roster.empty());
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
    CHECK_FALSE(read_lot_ask(w.env.state(), m1.node_key()));
    CHECK(w.free_stake("m1") == amount(kPlenty));
    w.to_next_epoch();
    w.env.refuse(Reason::kTooFewLots, w.env.person("buyer"), LeaseTake{w.first, kFast, 2, false});
    w.env.send(w.env.person("buyer"), LeaseTake{w.first, kFast, 1, false});
    CHECK(w.leases_node("buyer", "m2"));
    w.open_and_clear();
    CHECK_FALSE(read_lot_ask(w.env.state(), m1.node_key()));
    REQUIRE(w.told(EventKind::kLotGone).size() == 1);
    CHECK(w.told(EventKind::kLotGone).front().reason == Reason::kKeyRevoked);
}

}  // namespace assay::contracts::test
