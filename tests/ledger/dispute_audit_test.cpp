// SPDX-License-Identifier: Apache-2.0
// The audit of payouts where claims died in games: what they held is the buyer's again, and the books are
// right.
#include "contracts/rules/dispute/games.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::ledger {

using namespace contracts;
using namespace contracts::test;

namespace {

void check_books(const Env& env) {
    const PayoutReport report = audit_payouts(env.with_evidence());
    std::string said;
    for (const AuditFailure& failure : report.failures) said += failure.where + ": " + failure.what + "\n";
    INFO(said);
    CHECK(report.ok());
}

}  // namespace

TEST_CASE("books are right where a miner, and a verifier that vouched for it, lost in games") {
    Params params = short_windows();
    params.claim_window = 40;
    Env env(params);
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3", "v4"}) env.verifier(name);
    JobSpec spec = small_job();
    spec.security.audit_threshold = spec.security.finalise_threshold = UINT64_MAX;
    const Hash256 job = env.post(spec);
    env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    play_round(env, job);
    const auto move = [&](std::uint32_t number, const auto& tx) {
        env.send(env.by_node(read_game(env.state(), job, number)->claimant), tx);
    };
    env.send(env.person("v4"), DisputeOpen{job, 0, ClaimKind::kSlot, 0, dispute::UnitKind::kSegment, 1});
    move(0, DisputeConcede{job, 0});
    check_books(env);
    const auto vouchers = vouchers_of(env.state(), job, *read_game(env.state(), job, 0));
    REQUIRE_FALSE(vouchers.empty());
    env.send(env.person("v4"), DisputeCall{job, 0, vouchers[0]});
    move(1, DisputeConcede{job, 1});
    REQUIRE(read_game(env.state(), job, 1)->claimant_lost);
    check_books(env);
    // A challenge that fails moves no money of the job.
    env.send(env.person("v4"), DisputeOpen{job, 0, ClaimKind::kSlot, 1, dispute::UnitKind::kSegment, 0});
    env.send(env.person("v4"), DisputeConcede{job, 2});
    CHECK_FALSE(read_game(env.state(), job, 2)->claimant_lost);
    play_job(env, job);
    check_books(env);
    while (env.job(job).phase == JobPhase::kClosing) env.let_deadline_pass();
    check_books(env);
}

}  // namespace assay::ledger
