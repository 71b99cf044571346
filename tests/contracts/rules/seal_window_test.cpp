// SPDX-License-Identifier: Apache-2.0
// The heights in which audits are sealed are enough to replay: no honest panel is too late for a cheat.
#include <algorithm>

#include "contracts/rules/round/seal_window.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

/// One miner with two slots, three verifiers, every unit drawn; the parameter leaves a single height.
struct SlowWorld {
    Env env;
    Hash256 job;

    static Params params() {
        Params params = short_windows();
        params.audit_seal_window = 1;
        params.commit_window = 50;
        return params;
    }
    explicit SlowWorld(Params params = SlowWorld::params()) : env(params) {
        env.miner("m1", 50 * kPlenty);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        job = env.post(small_job());
        env.hold_auction(job, {{"m1", 500}}, {"v1", "v2", "v3"});
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
    }
    void wait(std::uint64_t heights) { env.advance_to(env.height() + heights); }
    /// Seals the slots `training` heights after they were dealt, and goes on to the calling of the audits.
    void to_audits(std::uint64_t training, const Play& play = {}) {
        const std::uint64_t start = env.round(job).started_at;
        env.advance_to(start + training);
        play_commits(env, job, play);
        play_links(env, job, play);
        play_serves(env, job, play);
        REQUIRE(env.round(job).phase == RoundPhase::kAuditSeal);
    }
    std::uint64_t window() { return env.round(job).phase_deadline - env.height(); }
    std::uint64_t most_slots() {
        std::uint64_t most = 0;
        for (const char* name : {"v1", "v2", "v3"}) {
            const auto slots = assigned_slots(env.state(), job, env.job(job).round, Stage::kPanel,
                                              env.person(name).node_key());
            most = std::max<std::uint64_t>(most, slots.size());
        }
        return most;
    }
    void finish(const Play& play = {}) {
        play_verdicts(env, job, play);
        play_merges(env, job, play);
    }
};

}  // namespace

TEST_CASE("audits may take as long as a replay of a verifier's slots at the slowest miner's speed, twice") {
    SlowWorld w;
    w.to_audits(20);
    // Two slots in 20 heights are 10 heights a slot.
    CHECK(w.window() == w.most_slots() * kReplayAllowance * 10);
}

TEST_CASE("a window of the parameter that is longer stays") {
    Params params = SlowWorld::params();
    params.audit_seal_window = 1'000;
    params.claim_window = 3'000;
    SlowWorld w(params);
    w.to_audits(20);
    CHECK(w.window() == 1'000);
}

TEST_CASE("a panel that needs as long as training did is in time, and convicts") {
    SlowWorld w;
    const Play play = {.miners = {{"m1", MinerManner::kCheats}}};
    w.to_audits(20, play);
    w.wait(20 * w.most_slots() / 2);
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kAuditSeal);
    w.finish(play);
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0))
        CHECK(slot.verdict == Reason::kPaidAccused);
}

TEST_CASE("a verifier slower than every miner is measured, and has its time in the next round") {
    SlowWorld w;
    w.to_audits(12);
    const std::uint64_t first = w.window();
    w.wait(first - 1);
    w.finish();
    const Job job = w.env.job(w.job);
    REQUIRE(job.round == 1);
    std::uint64_t slowest = UINT64_MAX;
    for (const EnlistedVerifier& verifier : job.verifiers) {
        if (verifier.speed() > 0) slowest = std::min(slowest, verifier.speed());
    }
    const std::uint64_t miner = job.roster.front().speed();
    REQUIRE(slowest < miner);
    w.to_audits(2);
    // At the slowest verifier's speed, rounded up to a height.
    const std::uint64_t slot = (job.slot_work * 1'000 * kReplayAllowance + slowest - 1) / slowest;
    CHECK(w.window() == w.most_slots() * slot);
}

TEST_CASE("whoever seals late on purpose lengthens no slot's audit beyond the commit window") {
    SlowWorld w;
    for (int round = 0; round < 3; ++round) {
        w.to_audits(49);
        CHECK(w.window() <= w.most_slots() * w.env.params().commit_window);
        w.wait(w.window());
        REQUIRE(w.env.round(w.job).phase == RoundPhase::kAuditSeal);
        w.finish();
    }
}

TEST_CASE("a speed is work for the heights it took, and never more than an amount") {
    CHECK(measured_speed(100, 10) == 10'000);
    CHECK(measured_speed(100, 0) == 100'000);
    CHECK(measured_speed(1, 1'001) == 0);
    CHECK(measured_speed(base::Uint128{UINT64_MAX} * 2, 1) == base::kAmountMax);
}

}  // namespace assay::contracts::test
