// SPDX-License-Identifier: Apache-2.0
// Nothing that grows for ever ends the ledger: counters of a lifetime stop at their largest value, and no
// deadline wraps.
#include "contracts/rules/identity/money.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

constexpr std::uint64_t kLast64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kLast32 = std::numeric_limits<std::uint32_t>::max();

struct CounterWorld {
    Env env;
    Hash256 job;

    explicit CounterWorld(Params params = short_windows()) : env(params) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    }
    void begin(const JobSpec& spec = small_job()) {
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    }
    [[nodiscard]] Miner miner(const std::string& name) {
        return *read_miner(env.state(), env.person(name).node_key());
    }
    [[nodiscard]] Verifier verifier(const std::string& name) {
        return *read_verifier(env.state(), env.person(name).node_key());
    }
};

}  // namespace

TEST_CASE("a sum of statistics stops at the largest value") {
    const Amount most = amount(base::kAmountMax);
    CHECK(saturating_sum(amount(2), amount(3)) == amount(5));
    CHECK(saturating_sum(most, amount(1)) == most);
    CHECK(saturating_sum(amount(1), most) == most);
    CHECK(saturating_sum(most, most) == most);
    CHECK(saturating_sum(kLast64 - 1, 1) == kLast64);
    CHECK(saturating_sum(kLast64, 1) == kLast64);
    CHECK(saturating_sum(kLast32 - 2, 5U) == kLast32);
    CHECK(saturating_sum(7U, 5U) == 12U);
}

TEST_CASE("whoever earned, lost and audited all that can be counted goes on earning, losing and auditing") {
    CounterWorld w;
    const Amount most = amount(base::kAmountMax);
    for (const char* name : {"m1", "m2"}) {
        w.env.edit<Miner>(miner_key(w.env.person(name).node_key()), [&](Miner& miner) {
            miner.earned = miner.forfeited = most;
            miner.losses = kLast64;
        });
    }
    for (const char* name : {"v1", "v2", "v3"}) {
        w.env.edit<Verifier>(verifier_key(w.env.person(name).node_key()), [&](Verifier& verifier) {
            verifier.earned = verifier.penalised = most;
            verifier.audited_units = kLast64;
        });
    }
    w.begin();
    const std::uint64_t before = w.env.balance("m1");
    play_round(w.env, w.job, {.verifiers = {{"v1", VerifierManner::kSealsOnly}}});
    const PublicKey m1 = w.env.person("m1").node_key();
    const auto earned = list_standing(w.env.state(), m1);
    REQUIRE(earned.size() == 1);
    w.env.edit<Standing>(standing_key(m1, earned[0].first), [](Standing& s) { s.work = kLast64; });
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}, .withhold_links = {"v2"}});
    CHECK(line_of(w.env, w.job, 1, LineKind::kSlot, "m2").lost.units() > 0);
    CHECK(w.miner("m1").earned == most);
    CHECK(list_standing(w.env.state(), m1).at(0).second == kLast64);  // and no newcomer again
    CHECK(w.miner("m2").forfeited == most);
    CHECK(w.verifier("v2").earned == most);
    CHECK(w.verifier("v2").penalised == most);
    CHECK(w.verifier("v3").audited_units == kLast64);
    play_job(w.env, w.job);
    CHECK(w.env.balance("m1") > before);
}

TEST_CASE("a deposit is burned though the miner lost all that can be counted before") {
    CounterWorld w;
    const PublicKey miner = w.env.person("m1").node_key();
    w.env.edit<Miner>(miner_key(miner), [](Miner& m) { m.forfeited = amount(base::kAmountMax); });
    w.job = w.env.post(small_job());
    w.env.send(w.env.person("m1"), AskCommit{w.job, bytes_of("never opened")});
    w.env.let_deadline_pass();
    w.env.let_deadline_pass();
    CHECK(w.env.job(w.job).end_reason == Reason::kNoAsks);
    CHECK(w.miner("m1").forfeited == amount(base::kAmountMax));
}

TEST_CASE("a job whose record of spending is full still pays") {
    CounterWorld w;
    w.begin();
    w.env.edit<JobProgress>(job_progress_key(w.job),
                            [](JobProgress& job) { job.spent = amount(base::kAmountMax); });
    play_job(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kJobComplete);
    CHECK(w.miner("m1").earned.units() > 0);
}

TEST_CASE("at the last heights that there are no deadline wraps: a job is worked on as at the first ones") {
    Params params = short_windows();
    params.commit_window = params.beacon_window = params.serve_window = params.audit_seal_window = 100;
    params.claim_window = 300;
    CounterWorld w(params);
    w.env.jump_to(kLast64 - 40);
    JobSpec spec = small_job();
    spec.market.deadline_blocks = 40;
    w.begin(spec);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRounds);
    CHECK(w.env.round(w.job).phase_deadline == kLast64);
    w.env.send(w.env.person("m1"), StakeWithdraw{w.env.person("m1").node_key(), amount(10)});
    w.env.jump_to(kLast64 - 1);
    play_commits(w.env, w.job, {});
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kBeacon);
    play_links(w.env, w.job, {});
    CHECK(w.env.round(w.job).phase == RoundPhase::kServe);
    CHECK(w.env.round(w.job).phase_deadline == kLast64);
    play_serves(w.env, w.job, {});
    CHECK(w.env.round(w.job).phase == RoundPhase::kAuditSeal);
    w.env.jump_to(kLast64);
    w.env.send(w.env.person("m1"), StakeWithdraw{w.env.person("m1").node_key(), amount(10)});
    CHECK(next_deadline(w.env.state()).has_value());
}

}  // namespace assay::contracts::test
