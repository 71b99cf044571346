// SPDX-License-Identifier: Apache-2.0
// What miners and verifiers earned and lost, line by line, comes to what the ledger itself counts.
#include "node/views/earnings_view.hpp"
#include "node/views/verifier_earnings.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node::test_market {

namespace {

Earnings earnings_of(Market& market, const std::string& miner, EarningsBy by = EarningsBy::kRound,
                     const EarningsSources& sources = {}) {
    auto earnings = miner_earnings(market.state(), market.party(miner).node.public_key(), by, sources);
    REQUIRE(earnings.ok());
    return std::move(earnings).value();
}

base::Outcome<std::string> ten_heights(std::uint64_t height) { return "day " + std::to_string(height / 10); }

VerifierEarnings earnings_of_verifier(Market& market, const std::string& verifier,
                                      EarningsBy by = EarningsBy::kRound) {
    auto earnings =
        verifier_earnings(market.state(), market.party(verifier).node.public_key(), by, ten_heights);
    REQUIRE(earnings.ok());
    return std::move(earnings).value();
}

/// The same of a verifier.
void check_verifier_sums(Market& market, const std::string& verifier) {
    INFO(verifier);
    const auto record = contracts::read_verifier(market.state(), market.party(verifier).node.public_key());
    REQUIRE(record.has_value());
    for (const EarningsBy by : {EarningsBy::kRound, EarningsBy::kJob, EarningsBy::kDay}) {
        const VerifierEarnings earnings = earnings_of_verifier(market, verifier, by);
        std::uint64_t earned = 0;
        std::uint64_t lost = 0;
        std::uint64_t won = 0;
        for (const VerifierEarningsRow& row : earnings.rows) {
            earned += row.earned.units();
            lost += row.lost.units();
            won += row.won.units();
        }
        CHECK(earned == record->earned.units());
        CHECK(lost == record->penalised.units());
        CHECK(won == earnings.total.won.units());
        CHECK(earnings.total.earned == record->earned);
        CHECK(earnings.total.lost == record->penalised);
        CHECK(earnings.complete());
    }
}

/// Rows, their total and the ledger's record say the same.
void check_sums(Market& market, const std::string& miner) {
    INFO(miner);
    const auto record = contracts::read_miner(market.state(), market.party(miner).node.public_key());
    REQUIRE(record.has_value());
    EarningsSources days;
    days.day_of = ten_heights;
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
    for (const char* verifier : {"vera", "viki", "vito"}) check_verifier_sums(market, verifier);
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
    for (const char* verifier : {"vera", "viki", "vito"}) check_verifier_sums(market, verifier);
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
    // Who accused the slot is paid for its audits by the game, and the winner its replay.
    bool won = false;
    for (const char* verifier : {"vera", "viki", "vito"}) {
        check_verifier_sums(market, verifier);
        won = won || !earnings_of_verifier(market, verifier).total.won.is_zero();
    }
    CHECK(won);
}

TEST_CASE("earnings of verifiers are the ledger's, while windows are open and after them") {
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
            for (const char* verifier : {"vera", "viki", "vito"}) {
                const VerifierEarnings now = earnings_of_verifier(market, verifier);
                CHECK(now.complete());
                held = held || !now.total.held.is_zero();
            }
            return market.ended();
        },
        800));
    CHECK(held);
    for (const char* verifier : {"vera", "viki", "vito"}) {
        const VerifierEarnings all = earnings_of_verifier(market, verifier);
        CHECK(all.rows.size() == 3);
        CHECK(all.total.merges == 3);
        CHECK(all.total.audits > 0);
        CHECK(all.total.held.is_zero());
        CHECK(all.total.lost.is_zero());
        CHECK(earnings_of_verifier(market, verifier, EarningsBy::kJob).rows.size() == 1);
    }
}

TEST_CASE("what a verifier that is gone loses, and a link that it withheld, is in its earnings at once") {
    MarketOptions options;
    options.conducts = {{"vito", Misconduct::kLinkWithholding}};
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] {
        const auto record = contracts::read_verifier(market.state(), market.party("vito").node.public_key());
        return record && !record->penalised.is_zero();
    }));
    REQUIRE_FALSE(market.settled(0));
    check_verifier_sums(market, "vito");
    CHECK_FALSE(earnings_of_verifier(market, "vito").total.lost.is_zero());
    REQUIRE(market.turn_until([&] { return market.at_phase(1, contracts::RoundPhase::kAuditSeal); }));
    market.party("viki").ended = true;  // it seals nothing of what it is drawn for
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    for (const char* verifier : {"vera", "viki", "vito"}) check_verifier_sums(market, verifier);
    CHECK_FALSE(earnings_of_verifier(market, "viki").total.lost.is_zero());
}

TEST_CASE("verifiers that pass a false number lose what they locked, and who called them has it as won") {
    MarketOptions options;
    options.claim_window = 120;
    worker::Drill drill{.kind = worker::DrillKind::kOperator, .segment = 1, .tensor = ""};
    drill.step = 1;
    drill.operator_index = 17;
    drill.index = 320;
    options.drills["mia"] = {{.round = 0, .drill = drill}};
    options.verifiers = {"vera", "viki", "vito"};
    options.colluding = {"vera", "viki"};
    options.challenges["vito"] = 1;
    Market market(options);
    // It is enlisted for nothing, so that the panels are those of the two.
    REQUIRE(write_order(market.party("vito").notes, WorkRole::kVerifier, WorkOrder::kPause).ok());
    market.start();
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    REQUIRE(write_order(market.party("vito").notes, WorkRole::kVerifier, WorkOrder::kWork).ok());
    REQUIRE(market.turn_until([&] { return market.ended(); }, 1500));
    base::Amount lost;
    for (const char* verifier : {"vera", "viki", "vito"}) check_verifier_sums(market, verifier);
    for (const char* verifier : {"vera", "viki"})
        lost = contracts::sum(lost, earnings_of_verifier(market, verifier).total.lost);
    CHECK_FALSE(lost.is_zero());
    const VerifierEarnings vito = earnings_of_verifier(market, "vito");
    CHECK_FALSE(vito.total.won.is_zero());
    CHECK(vito.total.audits == 0);
    CHECK(vito.rows.size() == 1);
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
