// SPDX-License-Identifier: Apache-2.0
// Miners take the places of others that are gone, and pay waits for its window, with real roles.
#include "ledger/audit/payout_audit.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node::test_market {

namespace {

/// Sid and Sue ask for nothing, win both slots, and are never heard of again.
MarketOptions squatted() {
    MarketOptions options;
    options.miners = {"mia", "moe", "sid", "sue"};
    options.asks = {{"sid", 0}, {"sue", 0}};
    options.rounds = 4;
    return options;
}

/// Both are gone as soon as their asks are opened.
void squat(Market& market) {
    const auto opened = [&](const char* name) {
        const auto job = market.job();
        const auto ask =
            job ? contracts::read_ask(market.state(), job->id, market.party(name).node.public_key())
                : std::optional<contracts::Ask>{};
        return ask && ask->revealed;
    };
    REQUIRE(market.turn_until([&] { return opened("sid") && opened("sue"); }));
    for (const char* name : {"sid", "sue"}) market.party(name).ended = true;
}

std::string failures_of(const ledger::PayoutReport& report) {
    std::string text;
    for (const auto& failure : report.failures) text += failure.where + ": " + failure.what + "\n";
    return text;
}

}  // namespace

TEST_CASE("squatters pay and are dropped; miners that lost the auction join and finish the job") {
    Market market(squatted());
    market.start();
    squat(market);
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    CHECK(market.job()->end_reason == contracts::Reason::kJobComplete);
    std::set<base::PublicKey> joined;
    for (std::uint32_t round = 0; round < 4; ++round) {
        for (std::uint32_t place = 0; place < 2; ++place) {
            const contracts::SettlementLine line = market.line_of(round, place);
            CAPTURE(round, place);
            if (round < 2) {
                CHECK(line.reason ==
                      (round == 0 ? contracts::Reason::kNoCommit : contracts::Reason::kNoCommitAgain));
                CHECK(line.lost.is_zero() == (round == 0));
            } else {
                CHECK(line.reason == contracts::Reason::kPaid);
                joined.insert(line.node);
            }
        }
    }
    CHECK(joined == std::set{market.party("mia").node.public_key(), market.party("moe").node.public_key()});
    const ledger::PayoutReport report = ledger::audit_payouts(market.with_evidence());
    INFO(failures_of(report));
    CHECK(report.ok());
}

TEST_CASE("a miner that asks for more than the clearing price takes no place at it") {
    MarketOptions options = squatted();
    options.asks = {{"sid", 0}, {"sue", 0}, {"moe", 900}};
    Market market(options);
    market.start();
    squat(market);
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    CHECK(market.job()->auction.clearing_price == base::units(500));
    CHECK(market.job()->end_reason == contracts::Reason::kJobComplete);
    for (std::uint32_t place = 0; place < 2; ++place)
        CHECK(market.line_of(3, place).node == market.party("mia").node.public_key());
}

TEST_CASE("a job with windows ends after the last one, and its roles wait for it") {
    MarketOptions options;
    options.rounds = 1;
    options.audit_window = 4;
    options.claim_window = 12;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until(
        [&] { return market.job() && market.job()->phase == contracts::JobPhase::kClosing; }));
    const std::uint64_t settled = market.round(0).settled_at;
    const base::PublicKey owner = market.party("mia").owner.public_key();
    const base::Amount before = contracts::read_account(market.state(), owner).balance;
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    CHECK(market.job()->ended_at == settled + 12);
    CHECK(contracts::read_account(market.state(), owner).balance > before);
    REQUIRE(market.turn_until([&] { return market.party("bea").ended; }));
    CHECK_FALSE(market.party("bea").error.has_value());
    const ledger::PayoutReport report = ledger::audit_payouts(market.with_evidence());
    INFO(failures_of(report));
    CHECK(report.ok());
}

}  // namespace assay::node::test_market
