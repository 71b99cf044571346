// SPDX-License-Identifier: Apache-2.0
// What a job that leases waits for, for how long, and which of its lots can work.
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/market/kept_window.hpp"
#include "contracts/rules/market/working_lots.hpp"
#include "tests/contracts/rules/leased_world.hpp"

namespace assay::contracts::test {

namespace {
std::uint64_t first_wait(const LeasedWorld& w) {
    return last_of_first_wait(w.env.params(), w.record(), kept_window(read_market_params(w.env.state())));
}
}  // namespace

TEST_CASE("a job whose deadline was moved waits a claim window longer, and then frees what others locked") {
    Params params = short_windows();
    // Before the deadline that was agreed, and behind it.
    params.claim_window = GENERATE(std::uint64_t{30}, std::uint64_t{5'000});
    CAPTURE(params.claim_window);
    LeasedWorld w(leased_job(), params);
    const std::uint64_t agreed = w.record().deadline - 1;
    w.start(1);
    play_round(w.env, w.job);
    const std::uint64_t since = w.env.height();
    REQUIRE(w.record().phase == JobPhase::kWaiting);
    const auto bonded = [&] { return read_stake(w.env.state(), w.env.person("v1").node_key()).bonded; };
    w.env.send(w.env.person("buyer"), JobExtend{w.job, 1'000'000});
    w.env.advance_to(std::max(agreed, since + params.claim_window));
    CHECK(w.record().phase == JobPhase::kWaiting);
    CHECK_FALSE(bonded().is_zero());
    w.env.next_block();
    REQUIRE(w.record().phase == JobPhase::kEnded);
    CHECK(w.record().end_reason == Reason::kNoMiners);
    CHECK(bonded().is_zero());
}

TEST_CASE("a moved deadline makes the wait for a first round no longer") {
    LeasedWorld w;
    w.enlist();
    w.env.send(w.env.person("buyer"), JobExtend{w.job, 1'000'000});
    w.env.advance_to(first_wait(w));
    CHECK(w.record().phase == JobPhase::kWaiting);
    w.env.next_block();
    CHECK(w.record().phase == JobPhase::kEnded);
    CHECK(w.record().end_reason == Reason::kNoMiners);
}

TEST_CASE("a first wait lasts for the epochs that the market keeps, however short claim windows are") {
    const Params params = short_windows();
    const LeasedWorld w(leased_job(), params);
    const std::uint64_t enlisted = last_of_enlistment(params, w.record());
    const std::uint64_t window = params.claim_window;
    CHECK(last_of_first_wait(params, w.record(), window - 1) == enlisted + window);
    CHECK(last_of_first_wait(params, w.record(), 2 * window) == enlisted + 2 * window);
    // Lots that a job bids for at once serve it after two epochs at most.
    MarketParams market;
    market.history_epochs = 2;
    CHECK(kept_window(market) > 2 * market.epoch);
}

TEST_CASE("a longer wait of a job that has its machines and lacks verifiers ends for those") {
    LeasedWorld w;
    w.env.enlist("v1", w.job);
    for (const char* name : {"m1", "m2"}) w.lease(name, 300, 1'000'000);
    w.env.send(w.env.person("buyer"), JobExtend{w.job, 1'000'000});
    w.env.advance_to(first_wait(w));
    REQUIRE(w.record().phase == JobPhase::kWaiting);
    w.env.next_block();
    CHECK(w.record().phase == JobPhase::kEnded);
    CHECK(w.record().end_reason == Reason::kTooFewVerifiers);
}

TEST_CASE("a lot works while its stake is locked for the job, and no more once its machine is dropped") {
    LeasedWorld w;
    const auto working = [&] {
        return count_working_lots(w.env.state(), w.record(), read_market_clock(w.env.state()).epoch);
    };
    w.enlist();
    w.pass_enlistment();
    w.lease("m1", 300, 500);
    w.lease("m2", 500, 500);
    Person& m2 = w.env.person("m2");
    const Amount bond = bond_at(w.env.state(), w.env.params(), w.record(), m2.node_key(), amount(500));
    w.env.send(m2, StakeWithdraw{m2.node_key(), *amount(kPlenty).minus(bond)});
    w.begin();
    REQUIRE(w.record().phase == JobPhase::kRounds);
    REQUIRE(read_stake(w.env.state(), m2.node_key()).free.is_zero());
    CHECK(working() == 2);
    SECTION("its bond is in its window") {
        play_round(w.env, w.job);
        REQUIRE(read_stake(w.env.state(), m2.node_key()).free.is_zero());
        CHECK(working() == 2);
    }
    SECTION("it is dropped") {
        play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}});
        REQUIRE(w.entry("m2").dropped);
        CHECK(working() == 1);
    }
}

TEST_CASE("a lot whose work too few others could judge does not count, and does not come into the roster") {
    Params params = short_windows();
    params.panel_owners_least = 3;
    LeasedWorld w(leased_job(), params);
    // v1's owner runs a machine too.
    Person& v1 = w.env.person("v1");
    Person& own = w.env.person("other");
    w.env.send(v1, NodeRegister{own.node_key(), prove_node_key(own.node, v1.owner_key(), w.env.chain())});
    w.env.send(v1, MinerRegister{own.node_key(), "127.0.0.1:1"});
    w.env.send(v1, StakeDeposit{own.node_key(), amount(kPlenty)});
    const auto working = [&] {
        return count_working_lots(w.env.state(), w.record(), read_market_clock(w.env.state()).epoch);
    };
    Lease lot;
    lot.node = own.node_key();
    lot.owner = v1.owner_key();
    lot.job = w.job;
    lot.price = amount(300);
    lot.from = w.env.height();
    lot.until = w.env.height() + 1'000;
    w.env.step([&](Work& work) { grant_lease(work.state, lot); });
    CHECK(working() == 1);  // while verifiers are missing nobody is kept away by them
    w.enlist();
    CHECK(working() == 0);
    w.pass_enlistment();
    w.lease("m1", 300, 500);
    w.begin();
    CHECK(w.record().phase == JobPhase::kWaiting);
    CHECK(working() == 1);
    REQUIRE(w.record().roster.size() == 1);
    CHECK(w.record().roster.front().node == w.env.person("m1").node_key());
}

TEST_CASE(
    "a job that has its gang and waits for a verifier keeps its next round's cost beside a bid's deposit") {
    const Amount deposit = short_epochs().bid_deposit;
    const Amount round = quote_job(short_windows(), leased_job())->round_cost;
    const bool has_enough = GENERATE(false, true);
    CAPTURE(has_enough);
    JobSpec spec = leased_job();
    spec.market.budget = *round.plus(deposit);
    if (!has_enough) spec.market.budget = *spec.market.budget.minus(amount(1));
    LeasedWorld w(spec);
    for (const char* name : {"v1", "v2"}) w.env.enlist(name, w.job);
    w.lease("m1", 1'000, 500);
    const BidSeal seal{w.job, bytes_of("seal")};
    const bool has_gang = GENERATE(true, false);
    CAPTURE(has_gang);
    if (has_gang) w.lease("m2", 100, 500);
    Person& buyer = w.env.person("buyer");
    if (has_enough) {
        w.env.send(buyer, seal);
    } else {
        w.env.refuse(Reason::kEscrowTooSmall, buyer, seal);
    }
    w.env.enlist("v3", w.job);
    w.pass_enlistment();
    if (!has_gang) {
        w.lease("m2", 100, 500);
        w.begin();
    }
    CHECK(w.record().phase == JobPhase::kRounds);
}

}  // namespace assay::contracts::test
