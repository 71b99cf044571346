// SPDX-License-Identifier: Apache-2.0
// Posting, bidding, and the ways in which a job ends.
#include <algorithm>

#include "contracts/program/program.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/roster.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

struct BiddingMarket {
    Env env;
    Hash256 job;

    explicit BiddingMarket(JobSpec spec = small_job(), Params params = short_windows()) : env(params) {
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        job = env.post(spec);
    }
    Payload sealed_ask(const std::string& name, std::uint64_t price) {
        Person& who = env.person(name);
        return AskCommit{job, ask_seal(env.chain(), job, who.node_key(), amount(price), who.secret)};
    }
    void check_refunded() {
        play_job(env, job);  // the windows
        const Job record = env.job(job);
        CHECK(record.escrow.is_zero());
        CHECK(record.spent.units() + record.refunded.units() >= record.spec.market.budget.units());
        for (const char* name : {"v1", "v2", "v3", "m1", "m2", "m3"}) {
            CHECK(read_stake(env.state(), env.person(name).node_key()).bonded.is_zero());
        }
    }
};

}  // namespace

TEST_CASE("the cheapest asks win and all are paid the first rejected ask") {
    BiddingMarket m;
    m.env.hold_auction(m.job, {{"m1", 300}, {"m2", 700}, {"m3", 400}}, {"v1", "v2"});
    const Job job = m.env.job(m.job);
    CHECK(job.auction.winners == 2);
    CHECK(job.auction.clearing_price == amount(700));
    CHECK(job.auction.first_rejected == amount(700));
    REQUIRE(job.roster.size() == 2);
    CHECK(job.roster[0].node == m.env.person("m1").node_key());
    CHECK(job.roster[1].node == m.env.person("m3").node_key());
}

TEST_CASE("an ask above the cap, or whose bond is gone, does not take part and loses its deposit") {
    BiddingMarket m;
    Person& m4 = m.env.miner("m4");
    JobSpec spec = small_job();
    spec.security.gain_bound =
        gain_bound_max(m.env.params(), spec.market.max_price, program::work_units(spec)).value();
    m.job = m.env.post(spec);
    const Amount deposit = m.env.params().ask_deposit;
    const Amount burned = read_supply(m.env.state()).burned;
    const Job posted = m.env.job(m.job);
    const Amount bond =
        bond_at(m.env.state(), m.env.params(), posted, m4.node_key(), posted.spec.market.max_price);
    // It leaves less than the bond by one unit, with the deposit that would come back.
    const Amount left = difference(difference(bond, deposit), amount(1));
    m.env.hold_auction(m.job, {{"m1", 1'001}, {"m2", 700}, {"m4", 1}}, {"v1", "v2"}, true, [&] {
        const Amount free = read_stake(m.env.state(), m4.node_key()).free;
        m.env.send(m4, StakeWithdraw{m4.node_key(), difference(free, left)});
    });
    const Job job = m.env.job(m.job);
    CHECK(job.auction.above_cap == 1);
    CHECK(job.auction.short_stake == 1);
    CHECK(job.auction.winners == 1);
    CHECK(m.env.stake("m1") == kPlenty - deposit.units());
    CHECK(m.env.stake("m2") == kPlenty);
    CHECK(m.env.stake("m4") == left.units());
    CHECK(read_miner(m.env.state(), m4.node_key())->forfeited == deposit);
    CHECK(read_supply(m.env.state()).burned == burned.plus(deposit)->plus(deposit));
    std::vector<Reason> lost;
    for (const Event& event : m.env.events())
        if (event.kind == EventKind::kLost) lost.push_back(event.reason);
    CHECK(lost.size() == 2);
    CHECK(std::count(lost.begin(), lost.end(), Reason::kAskAboveCap) == 1);
    CHECK(std::count(lost.begin(), lost.end(), Reason::kAskWithoutBond) == 1);
    for (const Ask& ask : list_asks(m.env.whole(), m.job)) CHECK(ask.deposit.is_zero());
}

TEST_CASE("an ask whose stake another job has locked since does not take part, and keeps its deposit") {
    BiddingMarket m;
    Person& m4 = m.env.miner("m4");
    m.env.send(m4, VerifierRegister{m4.node_key(), "127.0.0.1:6001"});
    JobSpec spec = small_job();
    spec.security.gain_bound =
        gain_bound_max(m.env.params(), spec.market.max_price, program::work_units(spec)).value();
    m.job = m.env.post(spec);
    const Job posted = m.env.job(m.job);
    const Amount deposit = m.env.params().ask_deposit;
    const Amount bond =
        bond_at(m.env.state(), m.env.params(), posted, m4.node_key(), posted.spec.market.max_price);
    const Amount left = difference(difference(bond, deposit), amount(1));
    m.env.hold_auction(m.job, {{"m1", 700}, {"m4", 1}}, {"v1", "v2"}, true, [&] {
        // One that waits for machines: it still holds what its verifiers locked when the auction is held.
        spec.market.terms.gang = spec.market.terms.most = spec.slots;
        const Hash256 other = m.env.post(spec);
        m.env.deposit_for_links("m4", other);
        const Amount link = *link_bond(m.env.params(), spec, posted.slot_work);
        const Amount free = difference(read_stake(m.env.state(), m4.node_key()).free, link);
        m.env.enlist("m4", other, difference(free, left).units());
        REQUIRE(read_stake(m.env.state(), m4.node_key()).free == left);
    });
    while (m.env.job(m.job).phase == JobPhase::kAskReveal) m.env.next_block();
    const Job job = m.env.job(m.job);
    CHECK(job.auction.short_stake == 1);
    CHECK(job.auction.winners == 1);
    CHECK(read_stake(m.env.state(), m4.node_key()).free == sum(left, deposit));
    CHECK(read_miner(m.env.state(), m4.node_key())->forfeited.is_zero());
}

TEST_CASE("a seat in an auction needs the stake of a slot: a thousand empty names close none") {
    BiddingMarket m;
    const Job job = m.env.job(m.job);
    Person& m4 = m.env.miner("m4", m.env.params().ask_deposit.units());
    const Amount needed = stake_to_ask(m.env.state(), m.env.params(), job, m4.node_key());
    REQUIRE(needed > m.env.params().ask_deposit);
    m.env.refuse(Reason::kInsufficientStake, m4, m.sealed_ask("m4", 1));
    const Amount free = read_stake(m.env.state(), m4.node_key()).free;
    m.env.send(m4, StakeDeposit{m4.node_key(), difference(difference(needed, free), amount(1))});
    m.env.refuse(Reason::kInsufficientStake, m4, m.sealed_ask("m4", 1));
    CHECK(m.env.job(m.job).auction.asks_sealed == 0);
    m.env.send(m4, StakeDeposit{m4.node_key(), amount(1)});
    // What is needed then is there when the auction is held: the deposit is back, and the bond beside it.
    m.env.hold_auction(m.job, {{"m1", 500}, {"m4", 400}}, {"v1", "v2"});
    CHECK(m.env.job(m.job).auction.winners == 2);
    CHECK(m.env.job(m.job).auction.short_stake == 0);
    CHECK(m.env.stake("m4") == needed.units());
}

TEST_CASE("bidding is sealed, once, in time, and by those who may") {
    BiddingMarket m;
    Person& m1 = m.env.person("m1");
    Person& m2 = m.env.person("m2");
    m.env.refuse(Reason::kUnknownJob, m1, AskCommit{bytes_of("no job"), {}});
    m.env.refuse(Reason::kNotMiner, m.env.person("v1"), m.sealed_ask("v1", 1));
    m.env.refuse(Reason::kNotVerifier, m1, VerifierEnlist{m.job, {}, {}});
    m.env.refuse(Reason::kNotValidator, m1, ValidatorEnlist{m.job, {}});
    m.env.refuse(Reason::kWrongPhase, m1, AskReveal{m.job, amount(1), m1.secret});
    m.env.refuse(Reason::kMalformed, m1, AskReveal{m.job, amount(1), {}});
    m.env.send(m1, m.sealed_ask("m1", 500));
    m.env.refuse(Reason::kAlreadyDone, m1, m.sealed_ask("m1", 400));
    Person& v1 = m.env.person("v1");
    const VerifierEnlist enlist = m.env.enlistment(v1, m.job);
    VerifierEnlist less = enlist;
    less.stake = amount(enlist.stake.units() - 1);
    m.env.refuse(Reason::kLockTooSmall, v1, less);
    m.env.send(v1, enlist);
    m.env.refuse(Reason::kAlreadyDone, v1, enlist);
    m.env.refuse(Reason::kInsufficientStake, m.env.verifier("v4", 1), enlist);
    m.env.let_deadline_pass();
    m.env.refuse(Reason::kWrongPhase, m2, m.sealed_ask("m2", 400));
    m.env.refuse(Reason::kNoSeal, m2, AskReveal{m.job, amount(400), m2.secret});
    m.env.refuse(Reason::kSealMismatch, m1, AskReveal{m.job, amount(499), m1.secret});
    m.env.send(m1, AskReveal{m.job, amount(500), m1.secret});
    m.env.refuse(Reason::kAlreadyDone, m1, AskReveal{m.job, amount(500), m1.secret});
}

TEST_CASE("an ask that is not opened loses its deposit") {
    BiddingMarket m;
    const Amount deposit = m.env.params().ask_deposit;
    const Amount burned = read_supply(m.env.state()).burned;
    CHECK(burned == job_fee(m.env.params(), m.env.job(m.job).spec));
    m.env.send(m.env.person("m1"), m.sealed_ask("m1", 500));
    CHECK(m.env.stake("m1") == kPlenty - deposit.units());
    m.env.let_deadline_pass();
    m.env.let_deadline_pass();
    CHECK(m.env.job(m.job).end_reason == Reason::kNoAsks);
    CHECK(m.env.stake("m1") == kPlenty - deposit.units());
    CHECK(read_supply(m.env.state()).burned == burned.plus(deposit));
    m.check_refunded();
    m.env.refuse(Reason::kJobOver, m.env.person("m2"), m.sealed_ask("m2", 500));
}

TEST_CASE("a buyer cancels while bidding at once, and in a round at its border") {
    BiddingMarket m;
    Person& buyer = m.env.person("buyer");
    m.env.send(m.env.person("m1"), m.sealed_ask("m1", 500));
    m.env.enlist("v1", m.job);
    m.env.refuse(Reason::kNotYours, m.env.person("other"), JobCancel{m.job});
    m.env.send(buyer, JobCancel{m.job});
    CHECK(m.env.job(m.job).end_reason == Reason::kJobCancelled);
    CHECK(m.env.stake("m1") == kPlenty);  // the deposit came back
    m.check_refunded();
    m.env.refuse(Reason::kJobOver, buyer, JobCancel{m.job});

    m.job = m.env.post(small_job());
    m.env.hold_auction(m.job, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
    m.env.send(buyer, JobCancel{m.job});
    m.env.refuse(Reason::kAlreadyDone, buyer, JobCancel{m.job});
    CHECK(m.env.job(m.job).phase == JobPhase::kRounds);
    play_round(m.env, m.job);
    CHECK(m.env.job(m.job).end_reason == Reason::kJobCancelled);
    CHECK(line_of(m.env, m.job, 0, LineKind::kSlot, "m1").reason == Reason::kPaid);
    m.check_refunded();
}

TEST_CASE("a budget that covers no further round ends the job; none ever overdraws its escrow") {
    JobSpec spec = small_job();
    spec.rounds = 50;
    spec.market.budget = amount(150'000);
    BiddingMarket m(spec);
    m.env.hold_auction(m.job, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
    play_job(m.env, m.job);
    const Job job = m.env.job(m.job);
    CHECK(job.end_reason == Reason::kJobExhausted);
    CHECK(job.rounds_done > 0);
    CHECK(job.rounds_done < 50);
    m.check_refunded();
}

TEST_CASE("no round begins at or after the deadline") {
    JobSpec spec = small_job();
    spec.market.deadline_blocks = 12;
    BiddingMarket m(spec);
    m.env.hold_auction(m.job, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
    REQUIRE(m.env.job(m.job).phase == JobPhase::kRounds);
    m.env.advance_to(m.env.job(m.job).deadline);
    play_round(m.env, m.job);
    CHECK(m.env.job(m.job).end_reason == Reason::kJobDeadline);
    m.check_refunded();
}

TEST_CASE("a job without two verifiers of different owners does not begin") {
    BiddingMarket m;
    m.env.hold_auction(m.job, {{"m1", 1}}, {"v1"});
    CHECK(m.env.job(m.job).end_reason == Reason::kTooFewVerifiers);
    m.check_refunded();
}

TEST_CASE("a round begins with panel_owners_least owners of verifiers, and with no fewer") {
    Params params = short_windows();
    params.panel_owners_least = 3;
    SECTION("three of them") {
        BiddingMarket m(small_job(), params);
        m.env.hold_auction(m.job, {{"m1", 1}, {"m2", 1}}, {"v1", "v2", "v3"});
        CHECK(m.env.job(m.job).phase == JobPhase::kRounds);
    }
    SECTION("two of them") {
        BiddingMarket m(small_job(), params);
        m.env.hold_auction(m.job, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
        CHECK(m.env.job(m.job).end_reason == Reason::kTooFewVerifiers);
        m.check_refunded();
    }
}

TEST_CASE("a job whose miners are all gone or ejected, and that nobody joins, ends") {
    BiddingMarket m;
    m.env.hold_auction(m.job, {{"m1", 1}}, {"v1", "v2"});
    play_round(m.env, m.job, {.miners = {{"m1", MinerManner::kSilent}}});
    CHECK(m.env.job(m.job).phase == JobPhase::kRefill);
    play_job(m.env, m.job);
    CHECK(m.env.job(m.job).end_reason == Reason::kNoMiners);
    m.check_refunded();
}

TEST_CASE("slots that no stake covers stay undealt") {
    JobSpec spec = small_job();
    spec.market.max_price = amount(kPlenty * 3 / 10 / program::work_units(spec));
    spec.market.budget = amount(50 * kPlenty);
    BiddingMarket m(spec);
    for (const char* name : {"v1", "v2"}) m.env.deposit_for_links(name, m.job);
    m.env.hold_auction(m.job, {{"m1", 1}}, {"v1", "v2"});
    REQUIRE(m.env.job(m.job).phase == JobPhase::kRounds);
    CHECK(read_slot(m.env.whole(), m.job, 0, 0)->assigned);
    CHECK_FALSE(read_slot(m.env.whole(), m.job, 0, 1)->assigned);
    play_round(m.env, m.job);
    CHECK(read_slot(m.env.whole(), m.job, 0, 1)->verdict == Reason::kNotAssigned);
    CHECK(read_slot(m.env.whole(), m.job, 0, 0)->verdict == Reason::kPaid);
}

TEST_CASE("a job is refused when its terms cannot be met") {
    BiddingMarket m;
    Person& buyer = m.env.person("buyer");
    const auto submit = [&](const JobSpec& spec) {
        return JobSubmit{spec, buyer.node_key(), "h:1", chain_tip(buyer.secret, spec.rounds)};
    };
    JobSpec spec = small_job();
    spec.market.budget = amount(1'000);
    m.env.refuse(Reason::kBudgetTooSmall, buyer, submit(spec));
    spec = small_job();
    spec.market.budget = amount(1'000 * kPlenty);
    m.env.refuse(Reason::kInsufficientBalance, buyer, submit(spec));
    spec = small_job();
    spec.security.gain_bound =
        amount(gain_bound_max(m.env.params(), spec.market.max_price, program::work_units(spec))->units() + 1);
    m.env.refuse(Reason::kGainBoundTooHigh, buyer, submit(spec));
    spec = small_job();
    spec.slots = 257;
    m.env.refuse(Reason::kBadSpec, buyer, submit(spec));
    spec = small_job();
    spec.model.heads = 3;
    m.env.refuse(Reason::kBadSpec, buyer, submit(spec));
    spec = small_job();
    spec.strategy = program::Strategy{77};
    m.env.refuse(Reason::kBadSpec, buyer, submit(spec));
    spec = small_job();
    spec.security.audit_threshold = 1;  // a bond of 2^64 times the pay
    m.env.refuse(Reason::kAmountOverflow, buyer, submit(spec));
    m.env.refuse(Reason::kNotYours, m.env.person("other"), submit(small_job()));
}

}  // namespace assay::contracts::test
