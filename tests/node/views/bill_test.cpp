// SPDX-License-Identifier: Apache-2.0
// Bills: what was accepted costs what the ledger says, and lost work stands there at zero.
#include "node/views/bill.hpp"

#include <set>

#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/runway.hpp"
#include "node/views/job_log.hpp"
#include "node/views/team_view.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace contracts::test;
using contracts::Reason;

const Days kHeights = [](std::uint64_t height) {
    return base::Outcome<std::string>("day of " + std::to_string(height));
};

// Two jobs of one buyer, the second submitted by a member of its team. In the first m1 cheats and loses
// games, and m2 is silent after the draw.
struct TwoJobs {
    TwoJobs() {
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        contracts::JobSpec spec = small_job();
        spec.slots = 3;
        own = env.post(spec);
        env.send(env.person("buyer"), contracts::JobTopUp{own, amount(7)});
        env.hold_auction(own, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
        const Play play = {.miners = {{"m1", MinerManner::kCheats}, {"m2", MinerManner::kSilent}}};
        play_round(env, own, play);
        play_accusations(env, own, 0, play);
        play_job(env, own, play);
        members = submit_as_member();
    }
    base::Hash256 submit_as_member() {
        Person& member = env.person("other");
        const base::Amount cap = base::units(1'000'000'000);
        env.send(env.person("buyer"), contracts::TeamGrant{member.owner_key(), {cap, cap, 9, cap}});
        env.send(member, contracts::NodeRegister{
                             member.node_key(),
                             contracts::prove_node_key(member.node, member.owner_key(), env.chain())});
        contracts::TeamSubmit tx;
        tx.spec = small_job();
        tx.node = member.node_key();
        tx.endpoint = "127.0.0.1:1";
        tx.beacon_tip = contracts::chain_tip(member.secret, tx.spec.rounds);
        tx.sponsor = env.person("buyer").owner_key();
        return contracts::job_id(env.send(member, tx).id);
    }
    Bill bill(const std::vector<BillBy>& by) {
        const auto bill = bill_of(env.whole(), env.person("buyer").owner_key(), by, kHeights);
        REQUIRE(bill.ok());
        return *bill;
    }
    Env env;
    base::Hash256 own, members;
};

std::uint64_t sum_of(const Bill& bill, bool fees) {
    std::uint64_t sum = 0;
    for (const BillLine& line : bill.lines)
        if ((line.item == BillItem::kFee) == fees) sum += line.amount.count;
    return sum;
}

}  // namespace

TEST_CASE("whatever a bill is by, its lines add up to the ledger's own totals") {
    TwoJobs jobs;
    const contracts::Job own = jobs.env.job(jobs.own);
    const contracts::Job members = jobs.env.job(jobs.members);
    REQUIRE_FALSE(own.spent.is_zero());
    for (const std::vector<BillBy>& by : std::vector<std::vector<BillBy>>{
             {BillBy::kJob}, {BillBy::kDay}, {BillBy::kTeam}, {BillBy::kTeam, BillBy::kDay, BillBy::kJob}}) {
        const Bill bill = jobs.bill(by);
        CHECK(sum_of(bill, false) == own.spent.units() + members.spent.units());
        CHECK(bill.totals.spent.count == sum_of(bill, false));
        CHECK(sum_of(bill, true) == bill.totals.fees.count);
        CHECK(bill.totals.put_in.count + bill.totals.penalties.count ==
              bill.totals.spent.count + bill.totals.refunded.count + bill.totals.in_escrow.count);
        CHECK(bill.totals.put_in.count ==
              own.spec.market.budget.units() + 7 + members.spec.market.budget.units());
    }
}

TEST_CASE("a bill has the deposit of a sealed bid, and of one that was burned") {
    Env env;
    contracts::JobSpec spec = small_job();
    spec.market.terms = {.gang = 1, .most = 1};
    const base::Hash256 id = env.post(spec);
    Person& buyer = env.person("buyer");
    const auto bids = [&] {
        std::vector<BillLine> found;
        const auto bill = bill_of(env.whole(), buyer.owner_key(), {BillBy::kJob}, kHeights);
        if (!bill.ok()) FAIL(bill.error().what);
        for (const BillLine& line : bill->lines)
            if (line.item == BillItem::kBids) found.push_back(line);
        return found;
    };
    CHECK(bids().empty());
    env.send(buyer, contracts::BidSeal{id, contracts::test::bytes_of("seal")});
    REQUIRE(bids().size() == 1);
    CHECK(bids()[0].reason == contracts::Reason::kNone);
    const std::uint64_t deposit = contracts::read_market_params(env.state()).bid_deposit.units();
    CHECK(bids()[0].amount.count == deposit);
    // Nobody opens it.
    while (contracts::read_lot_bid(env.state(), id))
        env.advance_to(contracts::read_market_clock(env.state()).due());
    REQUIRE(bids().size() == 1);
    CHECK(bids()[0].reason == contracts::Reason::kSealNotOpened);
    CHECK(bids()[0].amount.count == deposit);
}

TEST_CASE("lost work costs nothing and says why; accepted segments are counted") {
    TwoJobs jobs;
    std::set<Reason> lost;
    std::uint64_t accepted = 0;
    for (const BillLine& line : jobs.bill({BillBy::kJob}).lines) {
        if (line.item != BillItem::kSlots) continue;
        const bool paid = contracts::consequence(line.reason) == contracts::Consequence::kPaid;
        CHECK((line.amount.count > 0) == paid);
        CHECK((line.segments > 0) == paid);
        if (!paid) lost.insert(line.reason);
        accepted += line.segments;
    }
    CHECK(lost.contains(Reason::kSilentAfterDraw));
    CHECK(accepted > 0);
}

TEST_CASE("a bill tells members, days and jobs apart, and no more than it is asked") {
    TwoJobs jobs;
    std::set<std::string> names, members, days;
    for (const BillLine& line : jobs.bill({BillBy::kTeam}).lines) {
        CHECK((line.job.empty() && line.day.empty()));
        members.insert(line.member);
    }
    for (const BillLine& line : jobs.bill({BillBy::kJob}).lines) names.insert(line.job);
    for (const BillLine& line : jobs.bill({BillBy::kDay}).lines) days.insert(line.day);
    CHECK(members == std::set<std::string>{jobs.env.person("buyer").owner_key().hex(),
                                           jobs.env.person("other").owner_key().hex()});
    CHECK(names == std::set<std::string>{jobs.own.hex(), jobs.members.hex()});
    CHECK(days.contains("day of " + std::to_string(jobs.env.job(jobs.members).submitted_at)));
    CHECK(days.size() > 2);
    // A stranger pays nothing; a member sees what it submitted.
    CHECK(bill_of(jobs.env.whole(), jobs.env.person("m4").owner_key(), {}, kHeights)->lines.empty());
    const auto of_member = bill_of(jobs.env.whole(), jobs.env.person("other").owner_key(), {}, kHeights);
    CHECK(of_member->totals.put_in.count == small_job().market.budget.units());
}

TEST_CASE("a bill's comma-separated values are a record of names and one of each line") {
    Bill bill;
    bill.lines.push_back({.job = "a1", .name = "one, \"two\"", .reason = Reason::kPaid, .amount = {12}});
    CHECK(csv_records(bill) ==
          std::vector<std::vector<std::string>>{
              {"job", "name", "day", "member", "item", "reason", "count", "segments", "work_units", "amount"},
              {"a1", "one, \"two\"", "", "", "slots", "paid", "0", "0", "0", "12"}});
}

TEST_CASE("a log has who worked, when, and what it came to, and losses where a trace is at hand") {
    TwoJobs jobs;
    const auto state = jobs.env.with_evidence();
    const contracts::Job job = *contracts::read_job(state, jobs.own);
    const auto trace_of = [&](std::uint32_t round, std::uint32_t slot) {
        const auto reveal = contracts::read_reveal(state, job.id, round, slot);
        return reveal ? std::optional(reveal->trace) : std::nullopt;
    };
    const auto log = job_log(state, job, trace_of);
    REQUIRE(log.size() == job.rounds_done);
    std::size_t with_losses = 0;
    for (const SlotLog& slot : log[0].slots) {
        const auto record = contracts::read_slot(state, job.id, 0, slot.slot);
        CHECK(slot.miner == record->miner);
        CHECK(slot.committed_at == record->committed_at);
        CHECK(slot.verdict == record->verdict);
        CHECK(slot.losses.empty() != record->revealed);
        with_losses += slot.losses.size() == job.spec.train.inner_steps ? 1U : 0U;
    }
    CHECK(with_losses > 0);
    CHECK(log[0].settled_at > log[0].started_at);
    CHECK_FALSE(log[0].audits.empty());
    const auto without = job_log(state, job, [](auto, auto) { return std::nullopt; });
    CHECK(without[0].slots[0].losses.empty());
}

TEST_CASE("a runway counts the rounds that can begin, and a top-up makes it longer") {
    Env env;
    contracts::JobSpec spec = small_job();
    const auto quote = contracts::quote_job(env.params(), spec).value();
    spec.market.budget = *quote.round_cost.times(2, 1, base::Rounding::kDown);
    const base::Hash256 id = env.post(spec);
    const auto runway = contracts::runway_of(env.state(), env.job(id));
    REQUIRE(runway.has_value());
    CHECK(runway->rounds_left == 3);
    CHECK(runway->dearest_round == quote.round_cost);
    CHECK(runway->at_dearest == 2);
    CHECK_FALSE(runway->at_mean.has_value());
    CHECK(runway->is_low());
    env.send(env.person("buyer"), contracts::JobTopUp{id, quote.round_cost});
    CHECK(contracts::runway_of(env.state(), env.job(id))->at_dearest == 3);
    CHECK_FALSE(contracts::runway_of(env.state(), env.job(id))->is_low());
    env.send(env.person("buyer"), contracts::JobCancel{id});
    CHECK_FALSE(contracts::runway_of(env.state(), env.job(id)).has_value());
}

}  // namespace assay::node
