// SPDX-License-Identifier: Apache-2.0
// Miners that keep their machines on offer and buyers that bid for them, with real roles: nobody but the
// roles sends anything.
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/market/measure.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "node/roles/price_order.hpp"
#include "node/views/cleared_market.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node::test_market {

namespace {

using contracts::EventKind;
using contracts::JobPhase;
using contracts::MarketPhase;

/// Two machines, and jobs of two slots that want both of them.
MarketOptions trading() {
    MarketOptions options;
    options.terms = {.gang = 2, .most = 2};
    for (const std::string& name : options.miners) options.limits[name].trade = LotTerms{.memory = 3};
    return options;
}

contracts::MarketClock clock_of(const Market& market) { return contracts::read_market_clock(market.state()); }

contracts::Job job_of(const Market& market, const std::string& buyer_node) {
    for (const contracts::Job& job : contracts::list_jobs(market.state()))
        if (job.buyer_node == key_of(buyer_node + "'s node").public_key()) return job;
    FAIL("no job of " << buyer_node);
    return {};
}

std::optional<contracts::LotAsk> ask_of(Market& market, const std::string& miner) {
    return contracts::read_lot_ask(market.state(), market.party(miner).node.public_key());
}

bool at_market(const Market& market, MarketPhase phase) { return clock_of(market).phase == phase; }

base::Amount burned(const Market& market) { return contracts::read_supply(market.state()).burned; }

/// What becomes of the buyer's bid at the next clearing of two bids. The market is left at the height before.
BidWhy bid_at_clearing(Market& market, const std::string& buyer) {
    REQUIRE(market.turn_until(
        [&] {
            const auto clock = clock_of(market);
            return clock.phase == MarketPhase::kOpening && market.height() + 1 == clock.clear_at &&
                   contracts::list_lot_bids(market.state()).size() == 2;
        },
        400));
    const auto cleared =
        ClearedMarket::of(market.state(), {.chain_id = assay::test::kChainId, .height = market.height() + 1},
                          ClearingTime::kForeseen);
    REQUIRE(cleared.ok());
    REQUIRE(cleared->has_value());
    const auto why = (*cleared)->why_bid(job_of(market, buyer).id);
    REQUIRE(why.has_value());
    return *why;
}

/// Two buyers of longer jobs: bea bids 600 and could pay 2,000, ben bids his cap of 900.
MarketOptions bea_below_ben() {
    MarketOptions options = trading();
    options.rounds = 8;
    options.buyers = {"bea", "ben"};
    options.caps = {{"bea", 2'000}, {"ben", 900}};
    options.bids = {{"bea", 600}};
    return options;
}

void check_payouts(Market& market) {
    const ledger::PayoutReport report = ledger::audit_payouts(market.with_evidence());
    for (const auto& failure : report.failures) UNSCOPED_INFO(failure.where + ": " + failure.what);
    CHECK(report.ok());
}

}  // namespace

TEST_CASE("trade: a job leases both machines by the epoch's auction, and runs to its end") {
    Market market(trading());
    market.start();
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    check_nobody_ended(market);
    CHECK(market.job()->end_reason == contracts::Reason::kJobComplete);
    for (std::uint32_t round = 0; round < market.spec().rounds; ++round) {
        for (std::uint32_t slot = 0; slot < 2; ++slot) {
            const contracts::SettlementLine line = market.line_of(round, slot);
            CAPTURE(round, slot);
            CHECK(line.reason == contracts::Reason::kPaid);
            // No other bid: the lots cost what the dearer one asks, and not the job's cap.
            CHECK(line.price == base::units(500));
        }
    }
    check_payouts(market);
}

TEST_CASE("trade: a job that is outbid waits at its round's border, and goes on to the same bits") {
    MarketOptions options = trading();
    options.rounds = 4;
    Market alone(options);
    alone.start();
    REQUIRE(alone.turn_until([&] { return alone.ended(); }, 1'500));

    options.buyers = {"bea", "ben"};
    options.caps = {{"bea", 600}, {"ben", 900}};
    Market market(options);
    market.start();
    market.party("ben").ended = true;  // it serves its job from later on
    REQUIRE(market.turn_until([&] { return job_of(market, "bea").phase == JobPhase::kRounds; }, 400));
    market.party("ben").ended = false;
    market.start_buyer("ben");
    bool waited = false;
    std::uint32_t rounds_when_waiting = 0;
    REQUIRE(market.turn_until(
        [&] {
            const contracts::Job bea = job_of(market, "bea");
            if (!waited && bea.phase == JobPhase::kWaiting && bea.round > 0) {
                waited = true;
                rounds_when_waiting = bea.round;
            }
            return bea.phase == JobPhase::kEnded && job_of(market, "ben").phase == JobPhase::kEnded;
        },
        3'000));
    CHECK(waited);
    CHECK(rounds_when_waiting < 4);
    CHECK(market.party("bea").log.lines_with("lots less from the next epoch on") > 0);
    CHECK(market.party("bea").log.lines_with("no lots in epoch") > 0);
    for (const char* buyer : {"bea", "ben"})
        CHECK(job_of(market, buyer).end_reason == contracts::Reason::kJobComplete);
    CHECK(job_of(market, "bea").base_root == alone.job()->base_root);
    // What ben pays is what it takes to outbid bea, or the dearest ask: never its own cap.
    const auto paid = contracts::list_settlement(market.state(), job_of(market, "ben").id, 0);
    REQUIRE_FALSE(paid.empty());
    CHECK(paid.front().price < base::units(900));
    check_payouts(market);
}

TEST_CASE("trade: who loses at its bid wins with the least price that the counterfactual names") {
    MarketOptions options = bea_below_ben();
    Market market(options);
    market.start();
    const BidWhy lost = bid_at_clearing(market, "bea");
    CHECK(lost.end == BidEnd::kOutbid);
    CHECK(lost.price == base::units(600));
    REQUIRE(lost.least.has_value());
    CHECK(*lost.least > base::units(600));
    CHECK(lost.least_refused == contracts::Reason::kNone);
    market.turn();
    CHECK(contracts::count_leases(market.state(), lost.job, lost.epoch) == 0);

    // The same market with another bid: ties are broken by a hash over the salts, which are the same.
    const auto lots_at = [&](base::Amount price) {
        options.bids = {{"bea", price.units()}};
        Market other(options);
        other.start();
        const BidWhy bid = bid_at_clearing(other, "bea");
        CHECK(bid.price == price);
        REQUIRE(bid.epoch == lost.epoch);
        REQUIRE(bid.job == lost.job);
        other.turn();
        return contracts::count_leases(other.state(), bid.job, bid.epoch);
    };
    SECTION("at that price") { CHECK(lots_at(*lost.least) == 2); }
    SECTION("not at one base unit less") { CHECK(lots_at(*lost.least->minus(base::units(1))) == 0); }
}

TEST_CASE("trade: a buyer outbid at its flag wins with its owner's order, while the process runs") {
    Market market(bea_below_ben());
    market.start();
    const BidWhy lost = bid_at_clearing(market, "bea");
    market.turn();
    CHECK(contracts::count_leases(market.state(), lost.job, lost.epoch) == 0);
    // Above ben's cap, whatever the next clearing's ties are.
    REQUIRE(write_price_order(market.party("bea").notes, bid_order_note(lost.job), base::units(901)).ok());
    REQUIRE(market.turn_until(
        [&] { return clock_of(market).epoch == lost.epoch && at_market(market, MarketPhase::kNotice); }, 60));
    CHECK(contracts::count_leases(market.state(), lost.job, lost.epoch + 1) == 2);
    const auto& log = market.party("bea").log;
    CHECK(log.lines_with("whatever --bid says") == 1);
    CHECK(log.lines_with("bids as it was started with") == 0);
    REQUIRE(write_price_order(market.party("bea").notes, bid_order_note(lost.job), std::nullopt).ok());
    CHECK(market.turn_until([&] { return log.lines_with("bids as it was started with") == 1; }, 60));
}

TEST_CASE("trade: processes that end between seal and opening lose nothing") {
    Market market(trading());
    market.start();
    const auto bid_sealed = [&] {
        const auto bid = contracts::read_lot_bid(market.state(), job_of(market, "bea").id);
        return bid && !bid->opened;
    };
    REQUIRE(market.turn_until([&] { return ask_of(market, "mia") && !ask_of(market, "mia")->opened; }, 200));
    market.restart_miner("mia");
    REQUIRE(market.turn_until([&] { return ask_of(market, "mia") && ask_of(market, "mia")->opened; }, 60));
    REQUIRE(market.turn_until(bid_sealed, 200));
    market.start_buyer("bea");
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    CHECK(market.job()->end_reason == contracts::Reason::kJobComplete);
    CHECK(contracts::read_miner(market.state(), market.party("mia").node.public_key())->forfeited.is_zero());
    CHECK(contracts::read_seal_cost(market.state(), market.job()->id).is_zero());
}

TEST_CASE("trade: a buyer that is gone at the opening is told that its deposit is burned, and bids again") {
    Market market(trading());
    market.start();
    REQUIRE(market.turn_until(
        [&] { return contracts::read_lot_bid(market.state(), job_of(market, "bea").id).has_value(); }, 200));
    const base::Amount before = burned(market);
    market.party("bea").ended = true;
    REQUIRE(market.turn_until([&] { return at_market(market, MarketPhase::kNotice); }, 60));
    const contracts::MarketParams params = contracts::read_market_params(market.state());
    CHECK(burned(market) == before.plus(params.bid_deposit));
    market.party("bea").ended = false;
    market.start_buyer("bea");
    CHECK(market.party("bea").log.lines_with("a sealed bid was not opened") == 1);
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    CHECK(market.job()->end_reason == contracts::Reason::kJobComplete);
}

TEST_CASE("trade: a job whose escrow the rules would not take the bid's deposit from says so once") {
    MarketOptions options = trading();
    options.rounds = 3;
    Market plenty(options);
    plenty.start();
    // One base unit less than what the rules keep beside a bid in a running round.
    const base::Amount round =
        contracts::quote_job(contracts::params_of(plenty.state(), *plenty.job()), plenty.spec())->round_cost;
    options.budget = round.plus(round)->plus(options.epochs.bid_deposit)->minus(base::units(1));
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.job()->round == 1 || market.ended(); }, 800));
    const auto& log = market.party("bea").log;
    CHECK(log.lines_with("does not bid: beside the bid's deposit") == 1);
    CHECK(log.lines_with("refused") == 0);
}

TEST_CASE("trade: a buyer that cannot read its owner's price bids nothing, and says so once") {
    Market market(trading());
    market.start();
    const base::Hash256 bea = market.job()->id;
    REQUIRE_FALSE(contracts::read_lot_bid(market.state(), bea).has_value());
    auto& notes = market.party("bea").notes;
    REQUIRE(notes.write(bid_order_note(bea), base::as_bytes("no price")).ok());
    bool bid = false;
    REQUIRE_FALSE(market.turn_until(
        [&] { return (bid = bid || contracts::read_lot_bid(market.state(), bea)), false; }, 60));
    CHECK_FALSE(bid);
    CHECK(market.party("bea").log.lines_with("it bids nothing meanwhile") == 1);
    REQUIRE(write_price_order(notes, bid_order_note(bea), std::nullopt).ok());
    CHECK(market.turn_until([&] { return contracts::read_lot_bid(market.state(), bea).has_value(); }, 60));
}

TEST_CASE("trade: a miner that is told to pause withdraws its lot; one that drains ends once it is free") {
    Market market(trading());
    market.start();
    REQUIRE(market.turn_until([&] { return ask_of(market, "mia") && ask_of(market, "mia")->opened; }, 200));
    for (const char* name : {"mia", "moe"})
        REQUIRE(write_order(market.party(name).notes, WorkRole::kMiner,
                            std::string_view(name) == "mia" ? WorkOrder::kPause : WorkOrder::kDrain)
                    .ok());
    REQUIRE(market.turn_until([&] { return market.party("moe").ended; }, 200));
    CHECK_FALSE(market.party("moe").error.has_value());
    CHECK_FALSE(market.party("mia").ended);
    CHECK_FALSE(ask_of(market, "mia").has_value());
    CHECK_FALSE(ask_of(market, "moe").has_value());
    for (const char* name : {"mia", "moe"})
        CHECK(
            contracts::read_miner(market.state(), market.party(name).node.public_key())->forfeited.is_zero());
}

TEST_CASE("trade: a miner does not drain while whoever wants its lot of the running epoch may lease it") {
    MarketOptions options = trading();
    options.epochs.least_base_price = base::units(500);  // what moe asks: its lot is not too dear to be left
    options.asks = {{"mia", 400}};
    options.terms = {.gang = 1, .most = 1};
    options.rounds = 6;
    Market market(options);
    market.start();
    const base::PublicKey moe = market.party("moe").node.public_key();
    const auto left = [&] {
        const auto lot = contracts::read_lot(market.state(), clock_of(market).epoch, moe);
        return lot && lot->job.is_zero();
    };
    REQUIRE(market.turn_until([&] { return at_market(market, MarketPhase::kSealing) && left(); }, 200));
    REQUIRE(write_order(market.party("moe").notes, WorkRole::kMiner, WorkOrder::kDrain).ok());
    bool ended_with_lot = false;
    REQUIRE(market.turn_until(
        [&] {
            const bool bound = left() && !at_market(market, MarketPhase::kStopped);
            ended_with_lot = ended_with_lot || (market.party("moe").ended && bound);
            return market.party("moe").ended;
        },
        200));
    CHECK_FALSE(ended_with_lot);
    CHECK_FALSE(left());
    CHECK_FALSE(market.party("moe").error.has_value());
    CHECK(market.party("moe").log.lines_with("draining: waits for its lot in the market") > 0);
}

TEST_CASE("trade: after its first rounds a machine is on offer in the class that it was measured in") {
    MarketOptions options = trading();
    options.rounds = 4;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return ask_of(market, "mia") && ask_of(market, "mia")->opened; }, 200));
    CHECK(ask_of(market, "mia")->kind.speed == 0);
    REQUIRE(market.turn_until([&] { return market.ended(); }, 1'500));
    CHECK(market.job()->end_reason == contracts::Reason::kJobComplete);
    REQUIRE(market.turn_until(
        [&] { return at_market(market, MarketPhase::kStopped) && ask_of(market, "mia").has_value(); }, 200));
    const auto measured =
        contracts::read_machine(market.state(), market.party("mia").node.public_key(), program::Profile::kF32)
            .speed_bits();
    REQUIRE(measured.has_value());
    CHECK(*measured > 0);
    CHECK(ask_of(market, "mia")->kind.speed == *measured);
}

TEST_CASE(
    "trade: a machine that a job with its own auction counts on is not on offer before its rounds are over") {
    Market market;
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, contracts::RoundPhase::kCommit); }, 100));
    market.set_trade("mia", LotTerms{});
    market.restart_miner("mia");
    bool offered = false;
    REQUIRE(market.turn_until(
        [&] {
            offered = offered || (!contracts::is_over(market.job()->phase) && ask_of(market, "mia"));
            return market.ended();
        },
        400));
    CHECK_FALSE(offered);
    CHECK(market.job()->end_reason == contracts::Reason::kJobComplete);
    CHECK(slots_of(market, "mia", 1).size() == 1);
    CHECK(market.turn_until([&] { return ask_of(market, "mia").has_value(); }, 30));
    CHECK_FALSE(ask_of(market, "moe").has_value());
}

TEST_CASE("trade: beside its gang a job leases at once what is left at the base price") {
    MarketOptions options = trading();
    options.terms = {.gang = 1, .most = 2};
    options.rounds = 3;
    options.epochs.least_base_price = base::units(500);  // what the miners ask
    Market market(options);
    market.start();
    bool instant = false;
    bool won = false;
    REQUIRE(market.turn_until(
        [&] {
            for (const contracts::Lease& lease : contracts::list_leases(market.state(), market.job()->id))
                (lease.instant ? instant : won) = true;
            return market.ended();
        },
        1'500));
    CHECK(won);
    CHECK(instant);
    CHECK(market.party("bea").log.lines_with("a work unit for 1 lot of speed") > 0);
    CHECK(market.job()->end_reason == contracts::Reason::kJobComplete);
    bool both = false;
    for (std::uint32_t round = 0; round < 3; ++round)
        both = both ||
               (slots_of(market, "mia", round).size() == 1 && slots_of(market, "moe", round).size() == 1);
    CHECK(both);
    check_payouts(market);
}

TEST_CASE("trade: who asks in a class that rounds do not show loses its deposit, and goes on in its own") {
    MarketOptions options = trading();
    options.limits["mia"].trade->speed = 40;
    options.terms = {.gang = 1, .most = 1};
    options.rounds = 3;
    options.commit_window = 30;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return ask_of(market, "mia") && ask_of(market, "mia")->opened; }, 200));
    CHECK(ask_of(market, "mia")->kind.speed == 40);
    // It takes more heights than a round needs without any work, which show nothing.
    constexpr std::uint64_t kSlow = contracts::kHeightsUnseen + 4;
    REQUIRE(market.turn_until(
        [&] {
            const auto job = market.job();
            const auto round = contracts::read_round_progress(market.state(), job->id, job->round);
            auto& held = market.party("mia").worker.held;
            held = {frames::FrameKind::kTrain};
            if (round && market.height() >= round->started_at + kSlow) held.clear();
            return market.ended();
        },
        1'500));
    const base::PublicKey mia = market.party("mia").node.public_key();
    const auto measured = contracts::read_machine(market.state(), mia, program::Profile::kF32).speed_bits();
    REQUIRE(measured.has_value());
    REQUIRE(market.turn_until(
        [&] { return ask_of(market, "mia") && ask_of(market, "mia")->kind.speed == *measured; }, 200));
    CHECK(contracts::read_miner(market.state(), mia)->forfeited ==
          contracts::read_market_params(market.state()).lot_deposit);
}

TEST_CASE("trade: a miner with another price withdraws what stands, and offers at the new one") {
    Market market(trading());
    market.start();
    REQUIRE(market.turn_until([&] { return ask_of(market, "mia") && ask_of(market, "mia")->opened; }, 200));
    SECTION("by its flag, at its next start") {
        market.set_ask("mia", 700);
        market.restart_miner("mia");
    }
    SECTION("by its owner's order, which stands before the flag") {
        REQUIRE(write_price_order(market.party("mia").notes, ask_order_note(), base::units(700)).ok());
    }
    REQUIRE(market.turn_until(
        [&] {
            const auto ask = ask_of(market, "mia");
            return ask && ask->opened && ask->price == base::units(700);
        },
        200));
    CHECK(contracts::read_miner(market.state(), market.party("mia").node.public_key())->forfeited.is_zero());
}

}  // namespace assay::node::test_market
