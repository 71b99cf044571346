// SPDX-License-Identifier: Apache-2.0
// The audit of payouts where claims died in games: what they held is the buyer's again, and the books are
// right.
#include "ledger/audit/dispute_audit.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/state/store.hpp"
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

namespace {

/// Three games, and the books after each: a miner concedes its slot, a verifier that vouched for it concedes,
/// and a challenger of another slot concedes.
struct ThreeGames {
    Env env;
    Hash256 job;

    ThreeGames() : env(params()) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3", "v4"}) env.verifier(name);
        JobSpec spec = small_job();
        spec.security.audit_threshold = spec.security.finalise_threshold = UINT64_MAX;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        play_round(env, job);
        env.send(env.person("v4"), DisputeOpen{job, 0, ClaimKind::kSlot, 0, dispute::UnitKind::kSegment, 1});
        env.send(env.by_node(game(0).claimant), DisputeConcede{job, 0});
        check_books(env);
        const auto vouchers =
            vouchers_of(env.state(), {job, 0, ClaimKind::kSlot, 0}, dispute::UnitKind::kSegment, 1);
        REQUIRE_FALSE(vouchers.empty());
        env.send(env.person("v4"), DisputeCall{job, 0, dispute::UnitKind::kSegment, 1, vouchers[0]});
        env.send(env.by_node(game(1).claimant), DisputeConcede{job, 1});
        REQUIRE(game(1).claimant_lost);
        check_books(env);
        // A challenge that fails moves no money of the job.
        env.send(env.person("v4"), DisputeOpen{job, 0, ClaimKind::kSlot, 1, dispute::UnitKind::kSegment, 0});
        env.send(env.person("v4"), DisputeConcede{job, 2});
        CHECK_FALSE(game(2).claimant_lost);
    }
    [[nodiscard]] Game game(std::uint32_t number) const { return *read_game(env.state(), job, number); }

private:
    static Params params() {
        Params params = short_windows();
        params.claim_window = 40;
        return params;
    }
};

/// The audit says this of a game whose record is another one.
void expect_reported(const ThreeGames& w, const Game& changed, const std::string& what) {
    MemoryState state = w.env.with_evidence();
    store(state, game_key(w.job, changed.number), changed);
    std::string said;
    for (const AuditFailure& failure : audit_payouts(state).failures) said += failure.what + "\n";
    INFO("wanted: " << what << "\n" << said);
    CHECK(said.find(what) != std::string::npos);
}

}  // namespace

TEST_CASE("books are right where a miner, and a verifier that vouched for it, lost in games") {
    ThreeGames w;
    play_job(w.env, w.job);
    check_books(w.env);
    while (w.env.job(w.job).phase == JobPhase::kClosing) w.env.let_deadline_pass();
    check_books(w.env);
}

TEST_CASE(
    "books are right where a verifier loses all its stake while a round runs that it then keeps silent in") {
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
    env.send(env.person("v4"), DisputeOpen{job, 0, ClaimKind::kSlot, 0, dispute::UnitKind::kSegment, 1});
    env.send(env.by_node(read_game(env.state(), job, 0)->claimant), DisputeConcede{job, 0});
    const auto vouchers =
        vouchers_of(env.state(), {job, 0, ClaimKind::kSlot, 0}, dispute::UnitKind::kSegment, 1);
    const Person& called = env.by_node(vouchers[0]);
    play_commits(env, job, {});
    play_links(env, job, {});
    env.send(env.person("v4"), DisputeCall{job, 0, dispute::UnitKind::kSegment, 1, vouchers[0]});
    env.send(env.by_node(vouchers[0]), DisputeConcede{job, 1});
    const Play play{.verifiers = {{called.name, VerifierManner::kAbsent}},
                    .mergers = {{called.name, MergeManner::kAbsent}}};
    play_verdicts(env, job, play);
    play_merges(env, job, play);
    CHECK(line_of(env, job, 1, LineKind::kAudit, called.name).reason == Reason::kAuditSilent);
    CHECK(line_of(env, job, 1, LineKind::kAudit, called.name).lost.is_zero());
    check_books(env);
}

TEST_CASE("each amount that a game moved is computed again, and another one is reported") {
    const ThreeGames w;
    const Amount one = amount(1);
    for (std::uint32_t number = 0; number < 3; ++number) {
        const Game game = w.game(number);
        const std::string name = "dispute: game " + std::to_string(number) + " ";
        CHECK_FALSE(game.lost.is_zero());
        const std::pair<Amount Game::*, const char*> amounts[] = {{&Game::lost, "cost its loser "},
                                                                  {&Game::to_winner, "gave its winner "},
                                                                  {&Game::to_buyer, "gave the buyer "},
                                                                  {&Game::cost, "sets a replay at "},
                                                                  {&Game::bond, "has a bond of "}};
        for (const auto& [field, words] : amounts) {
            Game changed = game;
            changed.*field = (game.*field).plus(one).value();
            expect_reported(w, changed, name + words + std::to_string((game.*field).units() + 1));
        }
    }
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
