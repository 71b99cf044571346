// SPDX-License-Identifier: Apache-2.0
// What miners earned and lost, line by line, comes to what the ledger itself counts.
#include "node/views/earnings_view.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node::test_market {

namespace {

Earnings earnings_of(Market& market, const std::string& miner, EarningsBy by = EarningsBy::kRound,
                     const EarningsSources& sources = {}) {
    auto earnings = miner_earnings(market.state(), market.party(miner).node.public_key(), by, sources);
    REQUIRE(earnings.ok());
    return std::move(earnings).value();
}

/// Rows, their total and the ledger's record say the same.
void check_sums(Market& market, const std::string& miner) {
    INFO(miner);
    const auto record = contracts::read_miner(market.state(), market.party(miner).node.public_key());
    REQUIRE(record.has_value());
    EarningsSources days;
    days.day_of = [](std::uint64_t height) -> base::Outcome<std::string> {
        return "day " + std::to_string(height / 10);
    };
    for (const EarningsBy by : {EarningsBy::kRound, EarningsBy::kJob, EarningsBy::kDay}) {
        const Earnings earnings = earnings_of(market, miner, by, days);
        std::uint64_t earned = 0;
        std::uint64_t lost = 0;
        std::uint64_t work = 0;
        for (const EarningsRow& row : earnings.rows) {
            earned += row.earned.units();
            lost += row.lost.units();
            work += row.work_units;
        }
        CHECK(earned == record->earned.units());
        CHECK(lost == record->forfeited.units());
        CHECK(work == earnings.total.work_units);
        CHECK(earnings.total.earned == record->earned);
        CHECK(earnings.total.lost == record->forfeited);
        CHECK(earnings.complete());
    }
}

}  // namespace

TEST_CASE("earnings of honest miners are the ledger's, while windows are open and after them") {
    MarketOptions options;
    options.rounds = 3;
    options.audit_window = 4;
    options.claim_window = 40;
    Market market(options);
    market.start();
    bool held = false;
    REQUIRE(market.turn_until(
        [&] {
            if (!market.job()) return false;
            const Earnings now = earnings_of(market, "mia");
            CHECK(now.complete());
            held = held || !now.total.held.is_zero();
            return market.ended();
        },
        800));
    CHECK(held);
    for (const char* miner : {"mia", "moe"}) {
        check_sums(market, miner);
        const Earnings all = earnings_of(market, miner);
        CHECK(all.rows.size() == 3);
        CHECK(all.total.held.is_zero());
        CHECK_FALSE(all.total.earned.is_zero());
        CHECK(earnings_of(market, miner, EarningsBy::kJob).rows.size() == 1);
    }
}

TEST_CASE("bonds that squatters lose, and a deposit of an ask that was never opened, are in their earnings") {
    MarketOptions options;
    options.miners = {"mia", "moe", "sid", "sue"};
    options.asks = {{"sid", 0}, {"sue", 0}};
    options.rounds = 4;
    Market market(options);
    market.start();
    const auto ask = [&](const char* name) {
        const auto job = market.job();
        return job ? contracts::read_ask(market.state(), job->id, market.party(name).node.public_key())
                   : std::optional<contracts::Ask>{};
    };
    REQUIRE(market.turn_until([&] { return ask("sue").has_value() && ask("moe").has_value(); }));
    market.party("moe").ended = true;  // its seal is never opened
    REQUIRE(market.turn_until([&] { return ask("sid") && ask("sid")->revealed; }));
    market.party("sid").ended = true;
    market.party("sue").ended = true;
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    for (const char* miner : {"mia", "moe", "sid", "sue"}) check_sums(market, miner);
    CHECK_FALSE(earnings_of(market, "sid").total.lost.is_zero());
    const Earnings moe = earnings_of(market, "moe");
    REQUIRE(moe.rows.size() == 1);
    CHECK_FALSE(moe.rows[0].round.has_value());
    CHECK(moe.rows[0].lost == contracts::params_of(market.state(), *market.job()).ask_deposit);
}

TEST_CASE("what a claim loses in a game is in the earnings of its round") {
    MarketOptions options;
    options.rounds = 2;
    options.drills["mia"] = {{.round = 0, .drill = {.kind = worker::DrillKind::kNoise, .segment = 0}}};
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    for (const char* miner : {"mia", "moe"}) check_sums(market, miner);
    CHECK_FALSE(earnings_of(market, "mia").total.lost.is_zero());
}

TEST_CASE("the cost of power is of paid work, and nothing where one part of it is not known") {
    MarketOptions options;
    options.rounds = 2;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    EarningsSources sources;
    sources.power = [](const contracts::Job&, std::uint64_t units) { return base::Amount::of(3 * units); };
    const Earnings known = earnings_of(market, "mia", EarningsBy::kJob, sources);
    CHECK(known.total.power_cost == base::Amount::of(3 * known.total.work_units));
    CHECK(known.rows.at(0).power_cost == known.total.power_cost);
    int asked = 0;
    sources.power = [&](const contracts::Job&, std::uint64_t units) {
        return ++asked == 1 ? std::nullopt : base::Amount::of(units);
    };
    const Earnings partly = earnings_of(market, "mia", EarningsBy::kRound, sources);
    REQUIRE(partly.rows.size() == 2);
    CHECK(partly.rows[1].power_cost.has_value());
    CHECK_FALSE(partly.total.power_cost.has_value());
}

}  // namespace assay::node::test_market
