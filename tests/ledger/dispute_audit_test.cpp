// SPDX-License-Identifier: Apache-2.0
// The audit of payouts where claims died in games: what they held is the buyer's again, and the books are
// right.
#include "ledger/audit/dispute_audit.hpp"
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
    const auto vouchers =
        vouchers_of(env.state(), {job, 0, ClaimKind::kSlot, 0}, dispute::UnitKind::kSegment, 1);
    REQUIRE_FALSE(vouchers.empty());
    env.send(env.person("v4"), DisputeCall{job, 0, dispute::UnitKind::kSegment, 1, vouchers[0]});
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

TEST_CASE("a finished dispute is played again from the blocks, and another end of it is reported") {
    Params params = short_windows();
    params.claim_window = 40;
    Env env(params);
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3", "v4"}) env.verifier(name);
    const Hash256 job = env.post(small_job());
    env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    play_round(env, job);
    env.send(env.person("v4"), DisputeOpen{job, 0, ClaimKind::kSlot, 0, dispute::UnitKind::kSegment, 0});
    const auto game = [&] { return *read_game(env.state(), job, 0); };
    Person& claimant = env.by_node(game().claimant);
    const auto post = [&] {
        std::vector<Hash256> hashes(dispute::wanted_hashes(game().way), bytes_of("any"));
        if (game().way.stage == dispute::WayStage::kStates) hashes.back() = game().way.end;
        env.send(claimant, DisputePost{job, 0, hashes});
    };
    const DisputeName name{job, 0};
    const BlockReader blocks = [&](std::uint64_t height) -> Outcome<Block> {
        Block block;
        block.transactions = env.applied_at(height);
        return block;
    };
    CHECK(audit_dispute(env.with_evidence(), name, blocks).error().kind == base::ErrorKind::kNotFound);
    post();
    env.send(env.person("v4"), DisputePick{job, 0, {.index = 1, .end = std::nullopt}});
    post();
    env.send(env.person("v4"), DisputePick{job, 0, {.index = 0, .end = dispute::StepEnd::kNorm}});
    env.send(claimant, DisputeProve{job, 0, Bytes(32)});
    const MemoryState whole = env.with_evidence();
    std::uint64_t nanoseconds = 0;
    const auto report = audit_dispute(whole, name, blocks, [&] { return nanoseconds += 5; });
    REQUIRE(report.ok());
    CHECK(report->ok());
    REQUIRE(report->path.size() == 2);
    CHECK(report->path.back() == "slot 0, round 0, segment 0, step 1: the gradient norm of its fingerprint");
    CHECK(report->referee_ns == 5U);
    const Block last = *blocks(game().ended_at);
    const auto proved = base::decode<SignedTransaction>(last.transactions.back());
    CHECK(report->transaction == transaction_id(proved->body));
    CHECK(ending_transaction(last, name) == report->transaction);
    CHECK_FALSE(ending_transaction(last, {job, 1}));
    REQUIRE(report->verdict.has_value());
    CHECK_FALSE(report->verdict->claimant_wins());
    const auto rejects = [&](const auto& change) {
        MemoryState changed = whole;
        Game other = *read_game(whole, job, 0);
        change(other);
        changed.put(game_key(job, 0), base::encode(other));
        const auto again = audit_dispute(changed, name, blocks);
        return again.ok() && !again->ok();
    };
    CHECK(rejects([](Game& g) { g.claimant_lost = false; }));
    CHECK(rejects([](Game& g) { g.moves = 4; }));
    CHECK(rejects([](Game& g) { g.end = GameEnd::kSilent; }));
    CHECK(rejects([](Game& g) { g.finding.claimed_low = 7; }));
    CHECK(rejects([](Game& g) { std::swap(g.claimant, g.challenger); }));
    CHECK_FALSE(audit_dispute(whole, {job, 1}, blocks).ok());
}

}  // namespace assay::ledger
