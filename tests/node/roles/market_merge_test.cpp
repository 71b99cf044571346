// SPDX-License-Identifier: Apache-2.0
// Games about merges that the roles of a market play by themselves, over real workers: most of the stake says
// that a round came to something that it did not, and the one verifier that merged it shows them.
#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::ClaimKind;
using contracts::Game;
using contracts::Reason;
using dispute::UnitKind;

MarketOptions challenged() {
    MarketOptions options;
    options.claim_window = 120;
    return options;
}

std::vector<Game> played_in(const Market& market) {
    const auto job = market.job();
    return job ? contracts::list_games(market.state(), job->id) : std::vector<Game>{};
}

std::string log_of(Market& market, const std::string& name) {
    std::string words;
    for (const auto& line : market.party(name).log.lines) words += line + "\n";
    return words;
}

std::string failures_in(const Market& market) {
    std::string failures;
    for (const auto& failure : ledger::audit_payouts(market.with_evidence()).failures)
        failures += failure.where + ": " + failure.what + "\n";
    return failures;
}

/// Round 0 is merged to what vera and viki say, and vito plays until both have lost.
void check_both_lose(Market& market, UnitKind unit) {
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    REQUIRE(market.round(0).merged);
    market.turn_until([&] {
        const auto games = played_in(market);
        return games.size() >= 2 && !games[0].is_open() && !games[1].is_open();
    });
    INFO("vito\n" << log_of(market, "vito"));
    INFO("vera\n" << log_of(market, "vera"));
    const auto games = played_in(market);
    REQUIRE(games.size() >= 2);
    std::set<base::PublicKey> losers;
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(games[i].kind == ClaimKind::kMerge);
        CHECK(games[i].round == 0);
        CHECK(games[i].unit == unit);
        CHECK(games[i].challenger == market.party("vito").node.public_key());
        CHECK(games[i].claimant_lost);
        CHECK_FALSE(games[i].lost.is_zero());
        CHECK(games[i].called == (i == 1));
        losers.insert(games[i].claimant);
    }
    CHECK(losers == std::set{market.party("vera").node.public_key(), market.party("viki").node.public_key()});
    CHECK_FALSE(games[0].to_winner.is_zero());
    // The settlement took nothing from vito: its merge waited for its game, which took no bond.
    CHECK((games[0].accuses && games[0].bond.is_zero()));
    const auto lines = contracts::list_settlement(market.state(), market.job()->id, 0);
    const auto own = std::find_if(lines.begin(), lines.end(), [&](const auto& line) {
        return line.kind == contracts::LineKind::kMerge && line.reason == Reason::kMergeAccuses;
    });
    REQUIRE(own != lines.end());
    CHECK(own->node == market.party("vito").node.public_key());
    CHECK(own->lost.is_zero());
    CHECK(failures_in(market).empty());
    check_nobody_ended(market);
}

}  // namespace

TEST_CASE("a merge that most of the stake made up is challenged by the verifier that merged, and it wins") {
    MarketOptions options = challenged();
    options.conducts = {{"vera", Misconduct::kBadMerge}, {"viki", Misconduct::kBadMerge}};
    Market market(options);
    market.start();
    check_both_lose(market, UnitKind::kMerge);
    // Who is left merged truly; what the round handed on is what the false merge named.
    const auto job = market.job();
    REQUIRE(job);
    for (const auto& verifier : job->verifiers)
        CHECK(verifier.dropped == (verifier.node != market.party("vito").node.public_key()));
}

TEST_CASE("a verifier that starts again before the settlement still opens the game of its merge, and wins") {
    MarketOptions options = challenged();
    options.conducts = {{"vera", Misconduct::kBadMerge}, {"viki", Misconduct::kBadMerge}};
    Market market(options);
    market.start();
    // What it computed is gone with the role: its word is on the ledger.
    REQUIRE(market.turn_until([&] {
        const auto job = market.job();
        const auto round = job ? contracts::read_round_progress(market.state(), job->id, 0) : std::nullopt;
        return round && round->phase == contracts::RoundPhase::kMergeOpen;
    }));
    market.restart_verifier("vito");
    check_both_lose(market, UnitKind::kMerge);
}

TEST_CASE("who merges falsely alone finds nothing to reject, concedes, and loses what it staked") {
    MarketOptions options = challenged();
    options.conducts = {{"vera", Misconduct::kBadMerge}};
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    market.turn_until([&] { return !played_in(market).empty() && !played_in(market)[0].is_open(); });
    INFO("vera\n" << log_of(market, "vera"));
    const auto games = played_in(market);
    REQUIRE_FALSE(games.empty());
    CHECK((games[0].kind == ClaimKind::kMerge && games[0].accuses && games[0].round == 0));
    CHECK(games[0].challenger == market.party("vera").node.public_key());
    CHECK((!games[0].claimant_lost && games[0].end == contracts::GameEnd::kConceded));
    CHECK_FALSE(games[0].lost.is_zero());
    CHECK(failures_in(market).empty());
    check_nobody_ended(market);
}

TEST_CASE(
    "a clip that most of the stake falsified is what a game about the merge begins with, and it is lost") {
    MarketOptions options = challenged();
    options.max_update_norm = 0.01F;
    Market market(options);
    market.start();
    for (const char* name : {"vera", "viki"}) {
        market.party(name).worker.falsify = [](const frames::Message& request, WorkerAnswered& answer) {
            auto* merged = std::get_if<frames::BaseStateFrame>(&answer.message);
            if (std::get_if<frames::Merge>(&request) == nullptr || merged == nullptr) return;
            REQUIRE_FALSE(merged->clips.empty());
            merged->clips.front() ^= 1;
        };
    }
    check_both_lose(market, UnitKind::kClip);
    CHECK(market.round(0).result.clips.front() < 65'536);
}

}  // namespace assay::node
