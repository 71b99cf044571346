// SPDX-License-Identifier: Apache-2.0
// The audit of payouts agrees with the rules about merges that games are about, about those that are said to
// be not finite, and about slots that are cleared.
#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/state/store.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::ledger {

namespace {

using namespace contracts;
using namespace contracts::test;

Params with_merge_games() {
    Params params = short_windows();
    params.claim_window = 30;
    params.dispute_move_window = 6;
    return params;
}

/// Two miners and four verifiers; what was merged is audited after every step.
struct AuditedMerges {
    Env env{with_merge_games()};
    Hash256 job;

    AuditedMerges() {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3", "v4"}) env.verifier(name);
        job = env.post(small_job());
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3", "v4"});
    }
    void expect_whole() {
        const PayoutReport report = audit_payouts(env.with_evidence());
        std::string told;
        for (const AuditFailure& failure : report.failures)
            told += failure.where + ": " + failure.what + "\n";
        INFO(told);
        CHECK(report.failures.empty());
    }
    void finish() {
        while (read_job_progress(env.state(), job)) {
            if (is_running(env, job)) {
                play_round(env, job);
            } else {
                env.next_block();
            }
        }
        expect_whole();
    }
};

}  // namespace

TEST_CASE("the audit agrees about a false merge that dies with those who attested it") {
    AuditedMerges w;
    play_round(w.env, w.job,
               {.mergers = {{"v1", MergeManner::kConspires},
                            {"v2", MergeManner::kConspires},
                            {"v3", MergeManner::kConspires}}});
    w.expect_whole();
    for (const auto& [id, claim] : list_claims(w.env.state(), w.job)) {
        if (id.kind != ClaimKind::kMerge || id.round != 0) continue;
        w.env.send(w.env.person("v4"),
                   DisputeOpen{w.job, 0, ClaimKind::kMerge, id.number, dispute::UnitKind::kMerge, 0});
    }
    const auto ends = [&](std::uint32_t number) {
        const Game game = *read_game(w.env.state(), w.job, number);
        w.env.send(w.env.by_node(game.claimant), DisputeConcede{w.job, number});
        w.expect_whole();
    };
    ends(0);
    CHECK(read_game(w.env.state(), w.job, 0)->accuses);
    const Game killer = *read_game(w.env.state(), w.job, 0);
    const auto vouchers = vouchers_of(w.env.state(), killer.claim_id(w.job), killer.unit, killer.part);
    REQUIRE(vouchers.size() == 2);
    for (std::uint32_t number = 1; number <= 2; ++number) {
        w.env.send(w.env.person("v4"), DisputeCall{w.job, 0, killer.unit, killer.part, vouchers[number - 1]});
        ends(number);
    }
    w.finish();
}

TEST_CASE("the audit agrees about false mergers: who opens a game and loses it, and who opens none") {
    AuditedMerges w;
    play_round(w.env, w.job, {.mergers = {{"v1", MergeManner::kLies}}});
    CHECK(line_of(w.env, w.job, 0, LineKind::kMerge, "v1").reason == Reason::kMergeAccuses);
    w.expect_whole();
    for (const auto& [id, claim] : list_claims(w.env.state(), w.job)) {
        if (id.kind != ClaimKind::kMerge || id.round != 0) continue;
        w.env.send(w.env.person("v1"),
                   DisputeOpen{w.job, 0, ClaimKind::kMerge, id.number, dispute::UnitKind::kMerge, 0});
    }
    w.env.send(w.env.person("v1"), DisputeConcede{w.job, 0});
    w.expect_whole();
    play_round(w.env, w.job, {.mergers = {{"v2", MergeManner::kLies}}});
    w.finish();
    const auto games = list_games(w.env.with_evidence(), w.job);
    REQUIRE(games.size() == 2);
    for (const Game& game : games) CHECK((game.accuses && !game.claimant_lost && !game.lost.is_zero()));
    CHECK(games[1].end == GameEnd::kSilent);
    // Without its game nobody has decided what v2 said.
    MemoryState state = w.env.with_evidence();
    Game changed = games[1];
    changed.accuses = false;
    store(state, game_key(w.job, 1), changed);
    const PayoutReport report = audit_payouts(state);
    CHECK(std::any_of(report.failures.begin(), report.failures.end(), [](const AuditFailure& failure) {
        return failure.what.find("accused a claim of round 1") != std::string::npos;
    }));
}

TEST_CASE("the audit agrees about merges that are said to be not finite") {
    const bool many = GENERATE(true, false);
    CAPTURE(many);
    AuditedMerges w;
    play_commits(w.env, w.job, {});
    play_links(w.env, w.job, {});
    play_verdicts(w.env, w.job, {});
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kMergeSeal);
    const Job job = w.env.job(w.job);
    const MergeClaim one_slot = merge_of(job, 0, {0});
    const MergeClaim not_finite{.slots = merge_of(job, 0, {0, 1}).slots};
    const Hash256 salt = bytes_of("salt");
    // One against three, or three against one of fewer slots.
    const auto said = [&](const char* name) {
        return (std::string(name) == "v4") == many ? not_finite : one_slot;
    };
    for (const char* name : {"v1", "v2", "v3", "v4"}) {
        Person& who = w.env.person(name);
        w.env.send(
            who, MergeSeal{w.job, 0, merge_seal(w.env.chain(), w.job, 0, who.node_key(), said(name), salt)});
    }
    for (const char* name : {"v1", "v2", "v3", "v4"})
        w.env.send(w.env.person(name), MergeOpen{w.job, 0, said(name), salt});
    REQUIRE(read_round(w.env.whole(), w.job, 0)->phase == RoundPhase::kSettled);
    CHECK(read_round(w.env.whole(), w.job, 0)->merged == many);
    w.expect_whole();
    w.finish();
}

}  // namespace assay::ledger
