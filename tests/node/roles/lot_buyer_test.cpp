// SPDX-License-Identifier: Apache-2.0
// What a buyer's job decides in the market, on states that the real rules made.
#include "node/roles/lot_buyer.hpp"

#include "tests/contracts/rules/market_world.hpp"

namespace assay::node::test_bids {

using namespace contracts::test;
using base::Amount;
using contracts::LotClass;

namespace {

std::optional<BidChoice> choice_of(MarketWorld& w, std::uint64_t price) {
    const contracts::Job job = w.env.job(w.first);
    return choose_bid(job, offers_for(w.env.state(), job, amount(price)));
}

/// Lots that stand, opened, from the next epoch on.
void offer(MarketWorld& w, const std::map<std::string, MarketWorld::Offer>& offers) {
    for (const auto& [miner, one] : offers) w.seal_lot(miner, one);
    w.open_and_clear();
    w.to_next_epoch();
}

/// A world in which "buyer" wants a gang of so many of the four slots.
MarketWorld world(std::uint32_t gang) {
    MarketWorld w;
    program::JobSpec spec = market_job();
    spec.name = "gang";
    spec.market.terms.gang = gang;
    w.first = w.post(spec);
    return w;
}

}  // namespace

TEST_CASE("lot buyer: where no class is known it bids for nothing; else for its gang in one that has it") {
    MarketWorld w = world(2);
    CHECK_FALSE(choice_of(w, 1'000));
    offer(w, {{"m1", {300, kFast, 9}}, {"m2", {300, kSlow, 9}}, {"m3", {400, kSlow, 9}}});
    const auto choice = choice_of(w, 1'000);
    REQUIRE(choice);
    CHECK(choice->kind == kSlow);  // the fast class has one lot
    CHECK(choice->lots == 2);
    // The second of the slow lots asks more than this.
    CHECK_FALSE(choice_of(w, 399));
    CHECK(choice_of(w, 400));
}

TEST_CASE("lot buyer: it bids where a height of work gains most, by price and speed") {
    MarketWorld w = world(1);
    offer(w, {{"m1", {900, kFast, 9}}, {"m2", {500, kSlow, 9}}});
    // Four bits more of speed are worth sixteen times the slow one's gain of 500 a unit.
    CHECK(choice_of(w, 1'000)->kind == kFast);
    // At 920 it gains 20 · 2^10 with the fast one, and 420 · 2^6 with the slow one.
    CHECK(choice_of(w, 920)->kind == kSlow);
    const auto offers = offers_for(w.env.state(), w.env.job(w.first), amount(920));
    REQUIRE(offers.size() == 2);
    CHECK(offers[0].expected == amount(500));
    CHECK(offers[1].expected == amount(900));
    CHECK(offers[1].supply == 1);
    CHECK(offers[1].base_price == w.params().least_base_price);
}

TEST_CASE("lot buyer: classes that do not do, or cost more at least than it pays, are left out") {
    MarketWorld w;
    program::JobSpec spec = market_job();
    spec.name = "fast";
    spec.market.terms.gang = 1;
    spec.market.terms.least_speed = kFast.speed;
    w.first = w.post(spec);
    offer(w, {{"m1", {100, kSlow, 9}}});
    CHECK(offers_for(w.env.state(), w.env.job(w.first), amount(1'000)).empty());
    CHECK_FALSE(offers_for(w.env.state(), w.env.job(w.second), amount(1'000)).empty());
    CHECK(offers_for(w.env.state(), w.env.job(w.second), amount(0)).empty());
}

TEST_CASE("lot buyer: what lots cost last moves a bid to another class") {
    MarketWorld w;
    const LotClass twin{program::Profile::kF32, 10, 6, 8};
    const auto job = [&] { return w.env.job(w.first); };
    w.seal_lot("m1", {100, kFast, 9});
    w.seal_lot("m2", {150, twin, 9});
    w.open_and_clear();
    w.to_next_epoch();
    CHECK(choice_of(w, 900)->kind == kFast);
    // Two jobs want the one lot of the class: its price is now what the loser bid.
    w.seal_bid("buyer", {1, 600, kFast});
    w.seal_bid("other", {1, 900, kFast});
    w.open_and_clear();
    w.to_next_epoch();
    const auto dearer = offers_for(w.env.state(), job(), amount(900)).back();
    CHECK(dearer.kind == kFast);
    // What the winner paid: the loser's bid, or a unit more where it would have lost the tie.
    CHECK(dearer.expected >= amount(600));
    CHECK(dearer.expected <= amount(601));
    CHECK(choice_of(w, 900)->kind == twin);
    // An epoch later it counts an eighth less; what the state has forgotten counts no more.
    const auto pass_epoch = [&] {
        w.seal_bid("buyer", {1, 1, LotClass{program::Profile::kF32, 1, 1, 1}});  // the clock goes on
        w.open_and_clear();
        w.to_next_epoch();
    };
    pass_epoch();
    const std::uint64_t before = dearer.expected.units();
    CHECK(offers_for(w.env.state(), job(), amount(900)).back().expected == amount(before - (before + 7) / 8));
    CHECK(choice_of(w, 900)->kind == twin);
    for (std::uint32_t i = 0; i < w.params().history_epochs; ++i) pass_epoch();
    CHECK(choice_of(w, 900)->kind == kFast);
}

TEST_CASE("lot buyer: the steps of a bid, and none once the last round runs or the job is cancelled") {
    MarketWorld w;
    const auto step = [&] { return next_bid_step(w.env.state(), w.env.job(w.first)); };
    CHECK(step() == BidStep::kSeal);
    w.seal_bid("buyer", {1, 600});
    CHECK(step() == BidStep::kNone);
    w.to_opening();
    CHECK(step() == BidStep::kOpen);
    w.env.send(w.env.person("buyer"), w.bid_opening("buyer"));
    CHECK(step() == BidStep::kNone);
    w.to_clearing();
    CHECK(step() == BidStep::kNone);
    w.to_next_epoch();
    CHECK(step() == BidStep::kSeal);
    contracts::Job job = w.env.job(w.first);
    job.phase = contracts::JobPhase::kRounds;
    job.round = job.spec.rounds - 2;
    CHECK(next_bid_step(w.env.state(), job) == BidStep::kSeal);
    job.round = job.spec.rounds - 1;
    CHECK(next_bid_step(w.env.state(), job) == BidStep::kNone);
    job.phase = contracts::JobPhase::kWaiting;
    CHECK(next_bid_step(w.env.state(), job) == BidStep::kSeal);
    job.cancel_asked = true;
    CHECK(next_bid_step(w.env.state(), job) == BidStep::kNone);
}

TEST_CASE(
    "lot buyer: it leases what is left at once, where it could begin and the base price does not forbid") {
    MarketWorld w;
    offer(w, {{"m1", {1, kFast, 1}}, {"m2", {1, kFast, 1}}});
    const auto lease = [&](contracts::Job job, std::uint64_t price) {
        return choose_lease(w.env.state(), job, w.env.height(), amount(price));
    };
    contracts::Job job = w.env.job(w.first);
    CHECK_FALSE(lease(job, 1'000));  // verifiers may still enlist, and lots would stand idle
    job.round = 1;
    contracts::Job unjudged = job;
    unjudged.verifiers.pop_back();
    CHECK_FALSE(lease(unjudged, 1'000));  // the ledger would refuse it
    const auto taken = lease(job, 1'000);
    REQUIRE(taken);
    CHECK(taken->kind == kFast);
    CHECK(taken->lots == 2);
    CHECK_FALSE(taken->wait);
    CHECK_FALSE(lease(job, 0));
    job.spec.market.terms.gang = 3;
    CHECK_FALSE(lease(job, 1'000));  // fewer than its gang
    job.spec.market.terms = {.gang = 1, .most = 1};
    CHECK(lease(job, 1'000)->lots == 1);
    job.cancel_asked = true;
    CHECK_FALSE(lease(job, 1'000));
}

TEST_CASE("lot buyer: it leases another lot in the place of one that cannot hold a slot") {
    MarketWorld w;
    program::JobSpec spec = market_job(1);
    spec.name = "single";
    w.first = w.post(spec);
    for (const char* name : {"m1", "m2"}) w.seal_lot(name, {1});
    w.seal_bid("buyer", {1, 500});
    w.open_and_clear();
    w.to_next_epoch();
    REQUIRE(w.leases("buyer").size() == 1);
    const auto lease = [&] {
        contracts::Job job = w.env.job(w.first);
        job.round = 1;  // its enlistment is over
        return choose_lease(w.env.state(), job, w.env.height(), amount(1'000));
    };
    CHECK_FALSE(lease());
    const std::string gone = w.leases_node("buyer", "m1") ? "m1" : "m2";
    Person& who = w.env.person(gone);
    w.env.send(who, contracts::StakeWithdraw{who.node_key(), w.free_stake(gone)});
    const auto taken = lease();
    REQUIRE(taken);
    CHECK(taken->lots == 1);
    w.env.send(w.env.person("buyer"), *taken);
    CHECK(w.leases("buyer").size() == 2);
    CHECK_FALSE(lease());
}

}  // namespace assay::node::test_bids
