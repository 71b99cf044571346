// SPDX-License-Identifier: Apache-2.0
// What owners of miners allow, with real roles: hours of work, memory, and what work brings beside its power.
#include "tests/node/roles/small_market.hpp"

namespace assay::node::test_market {

namespace {

constexpr std::int64_t kHourMs = 3'600'000;

MarketOptions with_limits(const MinerOptions& limits) {
    MarketOptions options;
    options.miners = {"mia", "moe", "may"};
    options.rounds = 1;
    options.limits["may"] = limits;
    return options;
}

bool asked(Market& market, const std::string& miner) {
    const auto job = market.job();
    return job && contracts::read_ask(market.state(), job->id, market.party(miner).node.public_key());
}

}  // namespace

TEST_CASE("outside of its hours a miner asks for nothing; inside of them it does") {
    const MinerOptions limits{.hours = WorkingHours::parse("08:00-10:00").value()};
    for (const std::int64_t hour : {7, 9}) {
        Market market(with_limits(limits));
        market.clock().wall = hour * kHourMs;
        market.start();
        REQUIRE(market.turn_until(
            [&] { return market.job() && market.job()->phase == contracts::JobPhase::kAskReveal; }));
        CHECK(asked(market, "mia"));
        CHECK(asked(market, "may") == (hour == 9));
        CHECK((market.party("may").log.lines_with("outside of the hours of work") == 1) == (hour == 7));
    }
}

TEST_CASE("what was begun within the hours is finished outside of them") {
    MarketOptions options = with_limits({.hours = WorkingHours::parse("08:00-10:00").value()});
    options.miners = {"mia", "may"};
    Market market(options);
    market.clock().wall = 9 * kHourMs;
    market.start();
    REQUIRE(market.turn_until([&] { return asked(market, "may"); }));
    market.clock().wall = 12 * kHourMs;
    check_all_paid(market);
}

TEST_CASE("a miner asks for no slot that does not end within its hours") {
    MarketOptions options = with_limits({.hours = WorkingHours::parse("08:00-10:00").value()});
    Market market(options);
    market.clock().wall = 9 * kHourMs;
    contracts::JobTerms terms;
    terms.spec = market.spec();
    terms.slot_work = program::work_units(market.spec());
    MinerPace pace;
    add_slot(pace, terms, 2 * 3'600'000'000'000);
    REQUIRE(write_pace(market.party("may").notes, pace).ok());
    market.start();
    REQUIRE(market.turn_until(
        [&] { return market.job() && market.job()->phase == contracts::JobPhase::kAskReveal; }));
    CHECK_FALSE(asked(market, "may"));
    CHECK(market.party("may").log.lines_with("one takes about 2 h 0 min here") == 1);
}

TEST_CASE("who has no memory for a job neither asks nor enlists, and the log names what the worker says") {
    Market market(with_limits({}));
    for (const char* name : {"may", "vito"}) {
        market.party(name).worker.falsify = [](const frames::Message& request, WorkerAnswered& answer) {
            if (!std::holds_alternative<frames::OpenJob>(request)) return;
            answer.message = frames::Refusal{frames::RefusalReason::kMachine,
                                             "a memory budget of 12 GiB cannot hold one sequence: 19 GiB are "
                                             "needed",
                                             "give at least 19 GiB"};
        };
    }
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, contracts::RoundPhase::kCommit); }));
    CHECK(asked(market, "mia"));
    CHECK_FALSE(asked(market, "may"));
    CHECK(takes_part(*market.job(), market.party("vera").node.public_key()));
    CHECK_FALSE(takes_part(*market.job(), market.party("vito").node.public_key()));
    for (const char* name : {"may", "vito"}) CHECK(market.party(name).log.said("12 GiB", "19 GiB"));
}

TEST_CASE("a miner keeps what it measured, and warns of work that does not pay its power") {
    MarketOptions options;
    options.rounds = 1;
    options.limits["mia"] = {.power =
                                 PowerTerms{.watts = 1'000'000, .price = base::units(1'000'000'000'000)}};
    options.limits["moe"] = {.power = PowerTerms{.watts = 1, .price = base::units(1)}};
    Market market(options);
    market.start();
    check_all_paid(market);
    for (const char* name : {"mia", "moe"}) {
        const auto pace = read_pace(market.party(name).notes);
        REQUIRE(pace.ok());
        CHECK(pace->ask == base::units(500));
        CHECK(pace->power == options.limits.at(name).power);
        REQUIRE(pace->classes.size() == 1);
        CHECK(pace->classes[0].units >= program::work_units(market.spec()));
        CHECK(market.party(name).log.lines_with("work units an hour bring") == 1);
    }
    CHECK(market.party("mia").log.lines_with("ask for more with --ask") == 1);
    CHECK(market.party("moe").log.lines_with("ask for more with --ask") == 0);
    // Without the flags the home still knows.
    options.limits.clear();
    market.restart_miner("moe");
    market.turn();
    CHECK(read_pace(market.party("moe").notes)->power.has_value());
}

}  // namespace assay::node::test_market
