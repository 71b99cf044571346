// SPDX-License-Identifier: Apache-2.0
// Jobs that lease their machines in the market: when they wait, begin, are preempted and go on, who works for
// them, and what each slot pays.
#include "contracts/rules/dispute/losses.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/market/kept_window.hpp"
#include "contracts/rules/market/seals.hpp"
#include "contracts/rules/runway.hpp"
#include "tests/contracts/rules/leased_world.hpp"

namespace assay::contracts::test {

TEST_CASE("a job with terms of the market waits for its gang and its verifiers, and holds no auction") {
    LeasedWorld w;
    CHECK(w.record().phase == JobPhase::kWaiting);
    CHECK(to_text(JobPhase::kWaiting) == "waiting");
    for (const Payload& payload :
         {Payload{AskCommit{w.job, bytes_of("seal")}}, Payload{AskReveal{w.job, amount(1), bytes_of("salt")}},
          Payload{JobJoin{w.job}}})
        w.env.refuse(Reason::kJobLeases, w.env.person("m1"), payload);
    SECTION("machines without verifiers do not begin it, and the verifiers wake it") {
        w.pass_enlistment();
        w.lease("m1", 300, 100);
        w.lease("m2", 500, 100);
        w.begin();
        w.env.enlist("v1", w.job);
        w.env.next_block();
        CHECK(w.record().phase == JobPhase::kWaiting);
        w.env.enlist("v2", w.job);
        w.env.next_block();
        CHECK(w.record().phase == JobPhase::kRounds);
    }
    SECTION("verifiers without a gang do not begin it") {
        w.enlist();
        w.pass_enlistment();
        w.lease("m1", 300, 100);
        w.begin();
        CHECK(w.record().phase == JobPhase::kWaiting);
        w.lease("m2", 500, 100);
        w.begin();
        CHECK(w.record().phase == JobPhase::kRounds);
    }
    SECTION("who has its machines early waits until all who would enlist had their time") {
        w.enlist();
        w.lease("m1", 300, 100);
        w.lease("m2", 500, 100);
        w.begin();
        CHECK(w.record().phase == JobPhase::kWaiting);
        w.env.advance_to(last_of_enlistment(w.env.params(), w.record()));
        CHECK(w.record().phase == JobPhase::kWaiting);
        w.env.next_block();
        CHECK(w.record().phase == JobPhase::kRounds);
    }
    SECTION("validators enlist in it too, and nobody after its first round began") {
        w.env.deposit_for_links("sequencer", w.job);
        Person& sequencer = w.env.person("sequencer");
        w.env.send(sequencer, ValidatorEnlist{w.job, chain_tip(sequencer.secret, w.record().spec.rounds)});
        w.start();
        CHECK(w.record().beacon.size() == 5);
        w.env.verifier("v4");
        w.env.refuse(Reason::kWrongPhase, w.env.person("v4"), w.env.enlistment(w.env.person("v4"), w.job));
    }
}

TEST_CASE("a job that never gets its gang ends a claim window behind its enlistment, whatever its deadline") {
    JobSpec spec = leased_job();
    spec.market.deadline_blocks = 1'000'000'000;
    LeasedWorld w(spec);
    const std::uint64_t budget = w.record().escrow.units() + w.record().beacon.front().bond.units();
    const std::uint64_t before = w.env.balance("buyer");
    const bool has_verifiers = GENERATE(true, false);
    CAPTURE(has_verifiers);
    if (has_verifiers) w.enlist();
    w.lease("m1", 300, 2'000);
    w.env.advance_to(
        last_of_first_wait(w.env.params(), w.record(), kept_window(read_market_params(w.env.state()))));
    CHECK(w.record().phase == JobPhase::kWaiting);
    w.env.next_block();
    CHECK(w.record().phase == JobPhase::kEnded);
    CHECK(w.record().end_reason == (has_verifiers ? Reason::kNoMiners : Reason::kTooFewVerifiers));
    CHECK(w.env.balance("buyer") == before + budget);
    CHECK(read_meta(w.env.state()).active_jobs == 0);
    for (const char* name : {"v1", "v2", "v3", "m1"})
        CHECK(read_stake(w.env.state(), w.env.person(name).node_key()).bonded.is_zero());
}

TEST_CASE(
    "a job that never gets its gang ends at its deadline if that comes first, and everything comes back") {
    Params params = short_windows();
    params.claim_window = 5'000;
    LeasedWorld w(leased_job(), params);
    const std::uint64_t budget = w.record().escrow.units() + w.record().beacon.front().bond.units();
    const std::uint64_t before = w.env.balance("buyer");
    w.enlist();
    w.lease("m1", 300, 2'000);
    w.env.advance_to(w.record().deadline - 1);
    CHECK(w.record().phase == JobPhase::kWaiting);
    w.env.next_block();
    CHECK(w.record().end_reason == Reason::kJobDeadline);
    CHECK(w.record().phase == JobPhase::kEnded);
    CHECK(w.env.balance("buyer") == before + budget);
    CHECK(read_stake(w.env.state(), w.env.person("v1").node_key()).bonded.is_zero());
}

TEST_CASE("its buyer ends a job that waits at once") {
    LeasedWorld w;
    SECTION("before the first round") {
        w.env.send(w.env.person("buyer"), JobCancel{w.job});
        CHECK(w.record().phase == JobPhase::kEnded);
    }
    SECTION("preempted") {
        w.start(1);
        play_round(w.env, w.job);
        REQUIRE(w.record().phase == JobPhase::kWaiting);
        w.env.send(w.env.person("buyer"), JobCancel{w.job});
        while (w.record().phase == JobPhase::kClosing) w.env.let_deadline_pass();
    }
    CHECK(w.record().end_reason == Reason::kJobCancelled);
    CHECK(w.record().escrow.is_zero());
}

TEST_CASE("a job that waits, and whose data a game finds at fault, ends in the next block") {
    LeasedWorld w;
    w.start(1);
    play_round(w.env, w.job);
    REQUIRE(w.record().phase == JobPhase::kWaiting);
    w.env.step([&](Work& work) { void_job(work, w.job); });
    CHECK(w.record().phase == JobPhase::kWaiting);
    w.env.next_block();
    CHECK(w.record().end_reason == Reason::kJobVoid);
}

TEST_CASE("a slot pays its miner's lot's price, and who judges is paid by the round's highest") {
    LeasedWorld w;
    w.start();
    const auto prices = read_round_prices(w.env.state(), w.job, 0);
    REQUIRE(prices.has_value());
    CHECK(prices->highest == amount(500));
    REQUIRE(prices->slots.size() == 2);
    const Job job = w.record();
    CHECK(price_of_round(w.env.state(), job, 0) == amount(500));
    for (const auto& [name, price] : {std::pair{"m1", 300U}, std::pair{"m2", 500U}}) {
        const std::uint32_t slot = slot_of(w.env, w.job, name);
        CHECK(price_of_slot(w.env.state(), job, 0, slot) == amount(price));
        CHECK(read_slot(w.env.state(), w.job, 0, slot)->bond ==
              bond_at(w.env.state(), w.env.params(), job, w.env.person(name).node_key(), amount(price)));
        CHECK(w.entry(name).ask == amount(price));
    }
    play_round(w.env, w.job);
    for (const auto& [name, price] : {std::pair{"m1", 300U}, std::pair{"m2", 500U}}) {
        CHECK(w.line(0, name).reason == Reason::kPaid);
        CHECK(w.line(0, name).price == amount(price));
        CHECK(w.line(0, name).paid.units() == job.slot_work * price);
    }
    for (const SettlementLine& line : list_settlement(w.env.state(), w.job, 0)) {
        if (line.kind == LineKind::kSlot) continue;
        CHECK(line.price == amount(500));
        if (line.reason == Reason::kPaidAudit)
            CHECK(line.paid == audit_fee(w.env.params(), amount(500), line.work_units));
        if (line.reason == Reason::kPaidMerge)
            CHECK(line.paid == merge_fee(w.env.params(), amount(500), job.slot_work));
    }
    play_job(w.env, w.job);
    CHECK(w.record().end_reason == Reason::kJobComplete);
    for (std::uint32_t round = 0; round < 3; ++round)
        CHECK(w.line(round, "m1").paid.units() == job.slot_work * 300);
    CHECK(w.record().spent.units() + w.record().refunded.units() >= job.spec.market.budget.units());
}

TEST_CASE(
    "a newcomer's fee pays for its audits by the price of its own lot, whatever the dearest one costs") {
    LeasedWorld w;
    w.start();
    play_round(w.env, w.job);
    const Params params = w.env.params();
    std::uint64_t used = 0;
    for (const SettlementLine& line : list_settlement(w.env.whole(), w.job, 0)) {
        if (line.kind != LineKind::kAudit) continue;
        REQUIRE(line.reason == Reason::kPaidAudit);
        const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, line.slot);
        REQUIRE(slot.newcomer);
        const Amount own = price_of_slot(w.env.whole(), w.record(), 0, line.slot);
        CHECK(line.price == amount(500));
        CHECK(line.from_prepaid == audit_fee(params, own, line.work_units));
        CHECK(sum(line.from_prepaid, line.from_escrow) == audit_fee(params, line.price, line.work_units));
        if (slot.miner != w.env.person("m1").node_key()) continue;
        CHECK(own == amount(300));
        used += line.from_prepaid.units();
    }
    REQUIRE(used > 0);
    const Miner cheap = *read_miner(w.env.state(), w.env.person("m1").node_key());
    CHECK(cheap.prepaid.units() == params.miner_fee.units() - used);
}

TEST_CASE("a round outlives its lots, the job waits at its border, and goes on from the same root") {
    LeasedWorld w;
    w.start(1);
    const std::uint64_t bond = w.record().verifiers.front().bond.units();
    play_round(w.env, w.job);
    CHECK(w.line(0, "m1").reason == Reason::kPaid);  // rounds are never cut
    REQUIRE(w.record().phase == JobPhase::kWaiting);
    CHECK(w.record().round == 1);
    CHECK(w.record().rounds_done == 1);
    const Hash256 root = w.record().base_root;
    CHECK(root == read_round(w.env.whole(), w.job, 0)->result.base_root);
    CHECK(w.record().verifiers.front().bond.units() == bond);
    w.env.refuse(Reason::kWrongPhase, w.env.person("m1"), RoundCommit{w.job, 1, 0, bytes_of("seal")});
    w.begin();
    CHECK(w.record().phase == JobPhase::kWaiting);
    w.env.advance_to(w.env.height() + 50);
    CHECK(w.record().phase == JobPhase::kWaiting);

    // Another machine, and other prices.
    w.lease("m1", 700, 500);
    w.lease("m3", 200, 500);
    w.begin();
    REQUIRE(w.record().phase == JobPhase::kRounds);
    CHECK(w.env.round(w.job).base_root == root);
    CHECK(w.holds_slot(1, "m3"));
    CHECK_FALSE(w.holds_slot(1, "m2"));
    CHECK_FALSE(w.entry("m2").dropped);
    play_round(w.env, w.job);
    CHECK(w.line(1, "m1").price == amount(700));
    CHECK(w.line(1, "m3").paid.units() == w.record().slot_work * 200);
    play_job(w.env, w.job);
    CHECK(w.record().end_reason == Reason::kJobComplete);
    CHECK(w.record().phase == JobPhase::kEnded);
    CHECK(w.record().rounds_done == 3);
    CHECK(w.record().escrow.is_zero());
    // The prices of its rounds leave with its other records.
    w.env.advance_to(w.env.height() + 5);
    CHECK_FALSE(read_round_prices(w.env.state(), w.job, 0).has_value());
    CHECK(read_round_prices(w.env.whole(), w.job, 1)->highest == amount(700));
}

TEST_CASE("who was dropped comes back by a later lease alone, with one absence") {
    LeasedWorld w;
    w.enlist();
    w.pass_enlistment();
    w.lease("m1", 300, 500);
    w.lease("m2", 500, 40);
    const std::uint64_t over = w.env.height() + 40;
    w.begin();
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}});
    CHECK(w.line(0, "m2").reason == Reason::kSilentAfterDraw);
    CHECK(w.entry("m2").dropped);
    REQUIRE(w.record().phase == JobPhase::kWaiting);  // one hand is no gang
    REQUIRE(w.env.height() < over - 1);
    w.env.next_block();
    w.begin();  // it still has the lot that it had as it was dropped
    CHECK(w.record().phase == JobPhase::kWaiting);
    CHECK(w.entry("m2").dropped);
    w.env.advance_to(over);
    w.lease("m2", 400, 500);
    w.begin();
    REQUIRE(w.record().phase == JobPhase::kRounds);
    CHECK_FALSE(w.entry("m2").dropped);
    CHECK(w.entry("m2").missed == kAbsenceWeight);
    CHECK(w.entry("m2").dropped_for == Reason::kNone);
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kAbsent}}});
    CHECK(w.line(1, "m2").reason == Reason::kNoCommitAgain);
}

TEST_CASE(
    "who fills a gang's place by its absence costs the job a wait, and no hand is dealt without a lease") {
    JobSpec spec = leased_job();
    spec.market.terms.gang = 1;
    LeasedWorld w(spec);
    w.start(500);
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}});
    // One machine is a gang: it holds both slots.
    REQUIRE(w.record().phase == JobPhase::kRounds);
    for (const SlotRound& slot : list_slots(w.env.state(), w.job, 1))
        CHECK(slot.miner == w.env.person("m1").node_key());
    CHECK(read_round_prices(w.env.state(), w.job, 1)->highest == amount(300));
}

TEST_CASE("a lot above the job's cap deals nothing") {
    LeasedWorld w;
    w.enlist();
    w.pass_enlistment();
    w.lease("m1", 300, 500);
    w.lease("m2", 1'001, 500);
    w.begin();
    CHECK(w.record().phase == JobPhase::kWaiting);
    w.lease("m3", 1'000, 500);
    w.begin();
    CHECK(w.record().phase == JobPhase::kRounds);
    CHECK_FALSE(w.holds_slot(0, "m2"));
}

TEST_CASE("slots that nobody can hold have no price") {
    JobSpec spec = leased_job();
    spec.market.terms.gang = 1;
    LeasedWorld w(spec);
    w.enlist();
    w.pass_enlistment();
    w.lease("m1", 300, 500);
    Person& m1 = w.env.person("m1");
    const Amount bond = bond_at(w.env.state(), w.env.params(), w.record(), m1.node_key(), amount(300));
    w.env.send(m1, StakeWithdraw{m1.node_key(), amount(kPlenty - bond.units())});
    w.begin();
    REQUIRE(w.record().phase == JobPhase::kRounds);
    const auto prices = read_round_prices(w.env.state(), w.job, 0);
    CHECK(prices->slots == std::vector{amount(300), Amount{}});
    CHECK(prices->highest == amount(300));
    play_round(w.env, w.job);
    for (const SettlementLine& line : list_settlement(w.env.state(), w.job, 0))
        if (line.reason == Reason::kNotAssigned) CHECK(line.price.is_zero());
    // Its one bond is in its window; the job waits for that, and goes on by itself.
    REQUIRE(w.record().phase == JobPhase::kWaiting);
    w.env.advance_to(w.env.height() + w.env.params().claim_window + 1);
    CHECK(w.record().phase == JobPhase::kRounds);
}

TEST_CASE("the escrow covers the dearest course of a round at its lots' prices, or the job ends") {
    JobSpec spec = leased_job();
    spec.market.budget = quote_job(short_windows(), spec)->round_cost;
    LeasedWorld w(spec);
    const bool dear = GENERATE(true, false);
    CAPTURE(dear);
    w.enlist();
    w.pass_enlistment();
    for (const char* name : {"m1", "m2"}) w.lease(name, dear ? 1'000 : 100, 500);
    w.begin();
    play_job(w.env, w.job);
    CHECK(w.record().end_reason == (dear ? Reason::kJobExhausted : Reason::kJobComplete));
    CHECK(w.record().rounds_done == (dear ? 1 : 3));
}

TEST_CASE("prices that the rules would not have dealt break an invariant") {
    LeasedWorld w;
    w.start();
    const Bytes key = round_prices_key(w.job, 0);
    const auto finding = [&](const std::function<void(RoundPrices&)>& change) {
        Overlay changes(w.env.state());
        RoundPrices prices = read_round_prices(w.env.state(), w.job, 0).value();
        change(prices);
        store(changes, key, prices);
        return check_invariants(w.env.state(), changes).ok() || check_invariants(changes).ok();
    };
    CHECK(finding([](RoundPrices&) {}));
    CHECK_FALSE(finding([](RoundPrices& p) { p.slots[0] = amount(301); }));
    CHECK_FALSE(finding([](RoundPrices& p) { p.slots[1] = amount(1'001); }));
    CHECK_FALSE(finding([](RoundPrices& p) { p.highest = amount(501); }));
    CHECK_FALSE(finding([](RoundPrices& p) { p.slots.pop_back(); }));
    Overlay gone(w.env.state());
    gone.erase(key);
    CHECK_FALSE(check_invariants(w.env.state(), gone).ok());
}

TEST_CASE("a job without terms has an auction, one price and no record of prices") {
    Env env;
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    const Hash256 job = env.post(small_job());
    CHECK(env.job(job).phase == JobPhase::kAskCommit);
    env.hold_auction(job, {{"m1", 100}, {"m2", 200}}, {"v1", "v2", "v3"});
    const Job record = env.job(job);
    CHECK_FALSE(read_round_prices(env.state(), job, 0).has_value());
    CHECK(price_of_slot(env.state(), record, 0, 1) == record.auction.clearing_price);
    CHECK(price_of_round(env.state(), record, 0) == record.auction.clearing_price);
    // A lease that is not its own business does nothing to it.
    env.step([&](Work& work) { begin_if_leased(work, job); });
    CHECK(env.job(job).round == 0);
}

TEST_CASE("a bid's deposit comes out of nothing that a running round, or the next, may cost") {
    const Amount deposit = short_epochs().bid_deposit;
    const Amount round = quote_job(short_windows(), leased_job())->round_cost;
    const Amount enough = *round.times(2, 1, base::Rounding::kUp)->plus(deposit);
    const auto with_escrow = [&](Amount escrow, auto act) {
        JobSpec spec = leased_job();
        spec.market.budget = escrow;
        LeasedWorld w(spec);
        w.start();
        const Amount dealt = *escrow.minus(w.record().escrow);
        if (!dealt.is_zero()) w.env.send(w.env.person("buyer"), JobTopUp{w.job, dealt});
        REQUIRE(w.record().escrow == escrow);
        act(w, BidSeal{w.job, bytes_of("seal")});
        play_round(w.env, w.job);
        CHECK(w.record().rounds_done == 1);
    };
    with_escrow(enough, [](LeasedWorld& w, const BidSeal& seal) { w.env.send(w.env.person("buyer"), seal); });
    with_escrow(*enough.minus(amount(1)), [](LeasedWorld& w, const BidSeal& seal) {
        w.env.refuse(Reason::kEscrowTooSmall, w.env.person("buyer"), seal);
    });
}

TEST_CASE("what a round is said to have cost leaves the deposit of a sealed bid out") {
    LeasedWorld w;
    w.start();
    play_round(w.env, w.job);
    const auto before = runway_of(w.env.state(), w.record());
    REQUIRE(before.has_value());
    REQUIRE(before->mean_round.has_value());
    CHECK_FALSE(before->mean_round->is_zero());
    w.env.send(w.env.person("buyer"), BidSeal{w.job, bytes_of("seal")});
    CHECK_FALSE(read_seal_cost(w.env.state(), w.job).is_zero());
    CHECK(runway_of(w.env.state(), w.record())->mean_round == before->mean_round);
}

TEST_CASE("a job whose rounds are done opens its bid, has its deposit back, and is set aside") {
    JobSpec spec = leased_job();
    spec.rounds = 1;
    Params params = short_windows();
    params.claim_window = 20 * short_epochs().epoch;
    LeasedWorld w(spec, params);
    w.start();
    const LotClass kind{spec.profile, 10, 5, 8};
    const Hash256 salt = bytes_of("salt");
    Person& buyer = w.env.person("buyer");
    const Amount price = spec.market.max_price;
    w.env.send(buyer, BidSeal{w.job, bid_seal(w.env.chain(), w.job, kind, 2, price, salt)});
    play_round(w.env, w.job);
    REQUIRE(w.record().phase == JobPhase::kClosing);
    if (read_market_clock(w.env.state()).phase == MarketPhase::kSealing)
        w.env.advance_to(read_market_clock(w.env.state()).open_at);
    REQUIRE(read_market_clock(w.env.state()).phase == MarketPhase::kOpening);
    const Amount before = w.record().escrow;
    REQUIRE_FALSE(read_seal_cost(w.env.state(), w.job).is_zero());
    w.env.send(buyer, BidOpen{w.job, kind, 2, price, salt});
    CHECK(w.record().escrow == *before.plus(short_epochs().bid_deposit));
    CHECK(read_seal_cost(w.env.state(), w.job).is_zero());
    w.env.advance_to(read_market_clock(w.env.state()).clear_at);
    CHECK_FALSE(read_lot_bid(w.env.state(), w.job).has_value());
    CHECK(list_leases(w.env.state(), w.job).empty());
    // It seals no further one.
    w.env.refuse(Reason::kJobOver, buyer, BidSeal{w.job, bytes_of("seal")});
}

}  // namespace assay::contracts::test
