// SPDX-License-Identifier: Apache-2.0
// The audit of payouts where games decide: it counts accusations, panels and what games moved by code of its
// own, and reports what differs from the rules' records.
#include <functional>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/dispute/transactions.hpp"
#include "contracts/rules/state/store.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "tests/contracts/rules/blind_world.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::ledger {

namespace {

using namespace contracts;
using namespace contracts::test;

Params with_games() {
    Params params = short_windows();
    params.claim_window = 30;
    params.dispute_move_window = 6;
    params.probation_rounds = 1;
    return params;
}

std::string told(const PayoutReport& report) {
    std::string text;
    for (const AuditFailure& failure : report.failures) text += failure.where + ": " + failure.what + "\n";
    return text;
}

/// Round 0: a cheat is accused and concedes. Round 1: everybody lies about everybody, and lets the game pass.
/// Round 2: a panel is partly silent, and one verifier is not served.
struct Accused {
    Env env{with_games()};
    Hash256 job;
    std::uint32_t cheated = 0;

    Accused() {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        JobSpec spec = small_job();
        spec.security.audit_threshold = spec.security.finalise_threshold = UINT64_MAX;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        cheated = slot_of(env, job, "m2");
        play_round(env, job, {.miners = {{"m2", MinerManner::kCheats}}});
        const Claim claim = *read_claim(env.state(), {job, 0, ClaimKind::kSlot, cheated});
        REQUIRE_FALSE(claim.accusations.empty());
        env.send(env.by_node(claim.accusations.front().verifier),
                 DisputeOpen{job, 0, ClaimKind::kSlot, cheated, dispute::UnitKind::kSegment, 0});
        env.send(env.person("m2"), DisputeConcede{job, 0});
        expect_whole();
        play_round(env, job,
                   {.verifiers = {{"v1", VerifierManner::kLies}, {"v2", VerifierManner::kAccuses}}});
        expect_whole();
        play_round(env, job,
                   {.verifiers = {{"v1", VerifierManner::kAbsent}, {"v3", VerifierManner::kUnserved}}});
        expect_whole();
        while (read_job_progress(env.state(), job)) env.next_block();
    }
    void expect_whole() {
        const PayoutReport report = audit_payouts(env.with_evidence());
        INFO(told(report));
        CHECK(report.failures.empty());
    }
    template <class Record>
    void expect(const Bytes& key, const std::function<void(Record&)>& change, const std::string& what) {
        MemoryState state = env.with_evidence();
        auto record = load<Record>(state, key);
        REQUIRE(record.has_value());
        change(*record);
        store(state, key, *record);
        const PayoutReport report = audit_payouts(state);
        INFO("wanted " << what << " reported\n" << told(report));
        CHECK(std::any_of(report.failures.begin(), report.failures.end(), [&](const AuditFailure& failure) {
            return failure.what.find(what) != std::string::npos;
        }));
    }
};

}  // namespace

TEST_CASE("a job in which games decided checks out, in every round and at its end") {
    Accused w;
    w.expect_whole();
    const auto games = list_games(w.env.with_evidence(), w.job);
    CHECK(games.size() > 1);
    CHECK(std::any_of(games.begin(), games.end(), [](const Game& game) { return !game.fees.is_zero(); }));
    CHECK(std::any_of(games.begin(), games.end(),
                      [](const Game& game) { return game.accuses && !game.claimant_lost; }));
}

TEST_CASE("a changed accusation, panel or fee is reported under its rule") {
    Accused w;
    const auto slot = [&](const std::function<void(SlotRound&)>& change, const std::string& what) {
        w.expect<SlotRound>(slot_key(w.job, 0, w.cheated), change, what);
    };
    slot([](SlotRound& s) { s.verdict = Reason::kPaid; }, "verdict: recorded as paid");
    slot([](SlotRound& s) { s.fault_unit += 1; }, "verdict: the fault is recorded in unit");
    slot([](SlotRound& s) { s.panel += 1; }, "draw: the verifiers are not those");
    w.expect<Game>(
        game_key(w.job, 0), [](Game& game) { game.fees = {}; }, "escrow: ");
    w.expect<Game>(
        game_key(w.job, 0), [](Game& game) { game.returned = {}; }, "escrow: ");
    w.expect<Game>(
        game_key(w.job, 1), [](Game& game) { game.lost = game.lost.plus(amount(1)).value(); },
        "accusation: game 1 cost");
    w.expect<Game>(
        game_key(w.job, 1), [](Game& game) { game.to_winner = game.to_winner.plus(amount(1)).value(); },
        "accusation: game 1 gave its winner");
    w.expect<Game>(
        game_key(w.job, 1), [](Game& game) { game.to_buyer = game.to_buyer.plus(amount(1)).value(); },
        "accusation: game 1 gave the buyer");
    w.expect<Game>(
        game_key(w.job, 1), [](Game& game) { game.accuses = false; },
        "accused a claim of round 1, and no game decided it");
}

TEST_CASE(
    "a confirmation that is left out or was not due, and an opening that its seal denies, are reported") {
    BlindWorld w;
    w.to_serve();
    w.finish(BlindWorld::unserved(w.panel()));
    REQUIRE(w.slot().confirmers == 1);
    const MemoryState whole = w.env.with_evidence();
    REQUIRE(told(audit_payouts(whole)).empty());
    const auto reports = [&](auto record, const Bytes& key, const auto& change, const std::string& what) {
        MemoryState state = whole;
        record = *load<decltype(record)>(state, key);
        change(record);
        store(state, key, record);
        const std::string all = told(audit_payouts(state));
        INFO(what << " is not in\n" << all);
        CHECK(all.find(what) != std::string::npos);
    };
    const std::string other_draw = "draw: the verifiers are not those";
    const Bytes slot = slot_key(w.job, 0, 0);
    reports(
        SlotRound(), slot,
        [](SlotRound& s) {
            s.verifiers.pop_back();
            s.confirmers = 0;
        },
        other_draw);
    reports(
        SlotRound(), slot, [](SlotRound& s) { s.confirmers = 0; }, other_draw);
    // As if one of the panel had been served.
    const Bytes posting = audit_key(w.job, 0, Stage::kPanel, w.slot().verifiers.front());
    const auto served = [](AuditPosting& p) { p.replayed = {0}; };
    reports(AuditPosting(), posting, served, other_draw);
    reports(AuditPosting(), posting, served, "opened a replay where its seal said otherwise");
}

}  // namespace assay::ledger
