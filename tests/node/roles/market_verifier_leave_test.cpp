// SPDX-License-Identifier: Apache-2.0
// Verifiers whose owners tell them to pause or to drain, with real roles: they enlist for nothing new, do
// what they owe in the jobs that they are enlisted for, and a process that drains ends when these have ended.
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "node/roles/work_order.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node::test_market {

namespace {

using contracts::JobPhase;
using contracts::LineKind;

void tell_verifier(Market& market, const std::string& name, WorkOrder order) {
    REQUIRE(write_order(market.party(name).notes, WorkRole::kVerifier, order).ok());
}

/// Whether the verifier is enlisted for the buyer's job.
bool is_enlisted(Market& market, const std::string& verifier, const std::string& buyer = "bea") {
    for (const contracts::Job& job : contracts::list_jobs(market.state())) {
        if (job.buyer_node == market.party(buyer).node.public_key() &&
            contracts::read_enlisted(market.state(), job.id, market.party(verifier).node.public_key()))
            return true;
    }
    return false;
}

contracts::Job job_of(Market& market, const std::string& buyer) {
    for (contracts::Job& job : contracts::list_jobs(market.state()))
        if (job.buyer_node == market.party(buyer).node.public_key()) return std::move(job);
    FAIL("the buyer has no job");
    return {};
}

/// What the settlements say of a verifier: lines that are paid or attested, and lines that are not.
struct VerifierLines {
    std::size_t audits = 0;
    std::size_t merges = 0;
    std::size_t lost = 0;
};
VerifierLines lines_of(Market& market, const std::string& verifier) {
    VerifierLines found;
    const contracts::Job job = market.job().value();
    for (std::uint32_t round = 0; round < job.round; ++round) {
        for (const auto& line : contracts::list_settlement(market.state(), job.id, round)) {
            if (line.node != market.party(verifier).node.public_key()) continue;
            found.audits += line.kind == LineKind::kAudit ? 1U : 0U;
            found.merges += line.kind == LineKind::kMerge ? 1U : 0U;
            found.lost += line.lost.is_zero() ? 0U : 1U;
        }
    }
    return found;
}

contracts::Stake stake_of(Market& market, const std::string& name) {
    return contracts::read_stake(market.state(), market.party(name).node.public_key());
}

MarketOptions windows_of(std::uint64_t heights) {
    MarketOptions options;
    options.audit_window = 4;
    options.claim_window = heights;
    return options;
}

/// A market whose panels pass a false number of mia's; vito challenges what is settled, and is told to pause.
MarketOptions false_panels() {
    MarketOptions options;
    options.claim_window = 120;
    worker::Drill drill{.kind = worker::DrillKind::kOperator, .segment = 1, .tensor = ""};
    drill.step = 1;
    drill.operator_index = 17;
    drill.index = 320;
    options.drills["mia"] = {{.round = 0, .drill = drill}};
    options.colluding = {"vera", "viki"};
    options.challenges["vito"] = 1;
    return options;
}

}  // namespace

TEST_CASE("a verifier that pauses enlists for nothing, and enlists again once told to work") {
    Market market(windows_of(12));
    tell_verifier(market, "viki", WorkOrder::kPause);
    market.start();
    REQUIRE(market.turn_until([&] { return is_enlisted(market, "vera") && is_enlisted(market, "vito"); }));
    market.turn();
    CHECK_FALSE(is_enlisted(market, "viki"));
    REQUIRE(market.job()->phase == JobPhase::kAskCommit);
    tell_verifier(market, "viki", WorkOrder::kWork);
    market.turn();
    market.turn();
    CHECK(is_enlisted(market, "viki"));
    check_all_paid(market);
    CHECK(market.party("viki").log.lines_with("told to pause: enlists for nothing more") == 1);
    CHECK(market.party("viki").log.lines_with("told to work: enlists for jobs") == 1);
}

TEST_CASE("a verifier that pauses in the middle of a job goes on with it, and takes no other") {
    MarketOptions options = windows_of(12);
    options.buyers = {"bea", "ben"};
    options.late = {"ben"};
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return is_enlisted(market, "viki"); }));
    tell_verifier(market, "viki", WorkOrder::kPause);
    market.turn();
    market.buy("ben");
    const auto all_ended = [&] {
        const auto jobs = contracts::list_jobs(market.state());
        return std::all_of(jobs.begin(), jobs.end(),
                           [](const contracts::Job& job) { return job.phase == JobPhase::kEnded; });
    };
    REQUIRE(market.turn_until(all_ended, 800));
    CHECK(is_enlisted(market, "vera", "ben"));
    CHECK_FALSE(is_enlisted(market, "viki", "ben"));
    CHECK(job_of(market, "bea").end_reason == contracts::Reason::kJobComplete);
    CHECK(job_of(market, "ben").end_reason == contracts::Reason::kJobComplete);
    const auto viki = contracts::read_verifier(market.state(), market.party("viki").node.public_key());
    CHECK(viki->audited_units > 0);
    CHECK(viki->penalised.is_zero());
    CHECK_FALSE(market.party("viki").ended);
}

TEST_CASE("a verifier that drains enlists for nothing, does what it owes, and ends well with its job") {
    MarketOptions options = windows_of(12);
    options.buyers = {"bea", "ben"};
    options.late = {"ben"};
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return is_enlisted(market, "vera"); }));
    tell_verifier(market, "vera", WorkOrder::kDrain);
    market.turn();
    market.buy("ben");
    const base::Hash256 first = job_of(market, "bea").id;
    REQUIRE(market.turn_until(
        [&] {
            const auto job = contracts::read_job(market.state(), first);
            if (!job || job->phase != JobPhase::kEnded) CHECK_FALSE(market.party("vera").ended);
            return market.party("vera").ended;
        },
        800));
    INFO(market.party("vera").log.text());
    CHECK_FALSE(market.party("vera").error.has_value());
    CHECK_FALSE(is_enlisted(market, "vera", "ben"));
    const contracts::Job done = job_of(market, "bea");
    CHECK(done.end_reason == contracts::Reason::kJobComplete);
    CHECK(done.rounds_done == market.spec().rounds);
    const auto record = contracts::read_verifier(market.state(), market.party("vera").node.public_key());
    CHECK(record->audited_units > 0);
    CHECK(record->penalised.is_zero());
    CHECK(stake_of(market, "vera").bonded.is_zero());
    CHECK(market.party("vera").log.lines_with("draining: waits for the end of job") > 0);
    CHECK(market.party("vera").log.lines_with("drained: nothing needs this verifier any more") == 1);
    CHECK_FALSE(market.party("viki").ended);
}

TEST_CASE("a verifier that drains while a window is open stays until it closes, over a restart, too") {
    Market market(windows_of(150));
    market.start();
    REQUIRE(
        market.turn_until([&] { return market.job() && market.job()->phase == JobPhase::kClosing; }, 800));
    tell_verifier(market, "vera", WorkOrder::kDrain);
    market.turn();
    CHECK(market.party("vera").log.lines_with("draining: waits for the windows of the claims in job") == 1);
    CHECK_FALSE(stake_of(market, "vera").bonded.is_zero());
    market.restart_verifier("vera");
    int turns = 0;
    REQUIRE(market.turn_until([&] {
        if (market.ended()) return true;
        ++turns;
        REQUIRE_FALSE(market.party("vera").ended);
        CHECK(contracts::has_open_claim(market.state(), market.job()->id));
        return false;
    }));
    CHECK(turns > 50);
    market.turn();
    INFO(market.party("vera").log.text());
    CHECK(market.party("vera").ended);
    CHECK_FALSE(market.party("vera").error.has_value());
    CHECK(stake_of(market, "vera").bonded.is_zero());
    const VerifierLines lines = lines_of(market, "vera");
    CHECK(lines.merges == market.spec().rounds);
    CHECK(lines.lost == 0);
}

TEST_CASE("an order to a verifier survives a restart in the middle of a job") {
    Market market(windows_of(12));
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, contracts::RoundPhase::kAuditSeal); }));
    tell_verifier(market, "vera", WorkOrder::kDrain);
    market.turn();
    market.restart_verifier("vera");
    REQUIRE(market.turn_until([&] { return market.party("vera").ended; }, 800));
    CHECK(market.ended());
    CHECK_FALSE(market.party("vera").error.has_value());
    const VerifierLines lines = lines_of(market, "vera");
    CHECK(lines.audits > 0);
    CHECK(lines.merges == market.spec().rounds);
    CHECK(lines.lost == 0);
    CHECK(market.job()->end_reason == contracts::Reason::kJobComplete);
    // Told once in each process.
    CHECK(market.party("vera").log.lines_with("told to drain: enlists for nothing more, and ends once") == 2);
    // The next process ends at once, until it is told to work.
    market.party("vera").ended = false;
    market.restart_verifier("vera");
    CHECK(market.party("vera").ended);
    tell_verifier(market, "vera", WorkOrder::kWork);
    market.party("vera").ended = false;
    market.restart_verifier("vera");
    market.turn();
    CHECK_FALSE(market.party("vera").ended);
}

TEST_CASE("a verifier that has nothing drains at once, also where no block is made") {
    Market market(windows_of(12));
    tell_verifier(market, "vito", WorkOrder::kPause);
    market.start();
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    tell_verifier(market, "vito", WorkOrder::kDrain);
    market.clock().now += 1'000'000'000;
    market.party("vito").role->step(TimerFired{});
    CHECK(market.party("vito").ended);
    CHECK_FALSE(market.party("vito").error.has_value());
    CHECK_FALSE(market.party("vera").ended);
}

TEST_CASE("an order to a verifier that cannot be read counts as a pause, and the log says so once") {
    Market market(windows_of(12));
    market.party("vito").notes.files[order_note(WorkRole::kVerifier)] = {9};
    // That of a miner of the same home is none to the verifier.
    REQUIRE(write_order(market.party("viki").notes, WorkRole::kMiner, WorkOrder::kPause).ok());
    market.start();
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    CHECK_FALSE(is_enlisted(market, "vito"));
    CHECK(is_enlisted(market, "viki"));
    CHECK_FALSE(market.party("vito").ended);
    CHECK(market.party("vito").log.lines_with("no order of a verifier") == 1);
}

TEST_CASE("a verifier that pauses challenges nothing, and one that drains plays its game to its end") {
    Market market(false_panels());
    tell_verifier(market, "vito", WorkOrder::kPause);
    market.start();
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    for (int i = 0; i < 10; ++i) market.turn();
    CHECK(market.party("vito").log.lines_with("I compute it again") == 0);
    CHECK_FALSE(is_enlisted(market, "vito"));
    tell_verifier(market, "vito", WorkOrder::kWork);
    const auto vito = market.party("vito").node.public_key();
    const auto plays = [&] {
        const auto games = contracts::list_games(market.state(), market.job()->id);
        return std::any_of(games.begin(), games.end(), [&](const contracts::Game& game) {
            return game.challenger == vito && game.is_open();
        });
    };
    REQUIRE(market.turn_until(plays));
    tell_verifier(market, "vito", WorkOrder::kDrain);
    REQUIRE(market.turn_until([&] {
        if (plays()) CHECK_FALSE(market.party("vito").ended);
        return market.party("vito").ended;
    }));
    INFO(market.party("vito").log.text());
    CHECK_FALSE(market.party("vito").error.has_value());
    CHECK(market.party("vito").log.lines_with("draining: waits for a dispute in job") > 0);
    // It was no part of the job: its end is nothing that it waits for.
    CHECK_FALSE(market.ended());
    const contracts::Game game = contracts::list_games(market.state(), market.job()->id).front();
    CHECK(game.challenger == vito);
    CHECK(game.claimant_lost);
    CHECK(stake_of(market, "vito").bonded.is_zero());
}

}  // namespace assay::node::test_market
