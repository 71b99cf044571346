// SPDX-License-Identifier: Apache-2.0
// What a miner's good name is worth, and what loses it.
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

/// One miner that holds every slot, proven after one slot found right.
struct StandingWorld {
    Env env;
    Hash256 job;

    static Params params() {
        Params params = short_windows();
        params.probation_rounds = 1;
        return params;
    }
    static JobSpec spec(std::uint32_t slots) {
        JobSpec spec = small_job();
        spec.slots = slots;
        spec.rounds = 8;
        spec.security.audit_threshold = UINT64_MAX / 10'000;
        return spec;
    }
    explicit StandingWorld(std::uint32_t slots = 1,
                           const std::vector<std::string>& verifiers = {"v1", "v2", "v3"})
        : env(params()) {
        // Enough for the bonds of a proven miner, which are higher the lower the rate.
        env.miner("m1", 50 * kPlenty);
        for (const std::string& name : verifiers) env.verifier(name);
        job = env.post(spec(slots));
        env.hold_auction(job, {{"m1", 500}}, verifiers);
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
    }
    /// Slots found right that count.
    std::uint64_t standing() {
        std::uint64_t work = 0;
        for (const auto& [kind, units] : list_standing(env.state(), env.person("m1").node_key()))
            work += units;
        return work / env.job(job).slot_work;
    }
    RosterEntry entry() { return env.job(job).roster.front(); }
    SlotRound slot(std::uint32_t round, std::uint32_t number = 0) {
        return *read_slot(env.whole(), job, round, number);
    }
};

}  // namespace

TEST_CASE("a miner that serves no start keeps bond and standing: the replay costs it its pay") {
    StandingWorld w;
    play_round(w.env, w.job);
    REQUIRE(w.standing() == 1);
    REQUIRE_FALSE(w.slot(1).newcomer);
    play_round(w.env, w.job, {.miners = {{"m1", MinerManner::kWithholds}}});
    CHECK(w.slot(1).verdict == Reason::kPaid);
    CHECK(w.standing() == 2);
    CHECK(w.env.stake("m1") == 50 * kPlenty);
    CHECK(w.entry().missed == 0);
    const SettlementLine line = line_of(w.env, w.job, 1, LineKind::kSlot, "m1");
    CHECK_FALSE(line.replays.is_zero());
    CHECK(line.paid < line_of(w.env, w.job, 0, LineKind::kSlot, "m1").paid);
}

TEST_CASE("a forfeit makes a newcomer of a proven miner") {
    StandingWorld w;
    play_round(w.env, w.job);
    REQUIRE(w.standing() == 1);
    play_round(w.env, w.job, {.miners = {{"m1", MinerManner::kSilent}}});
    CHECK(w.slot(1).verdict == Reason::kSilentAfterDraw);
    CHECK(w.standing() == 0);
}

TEST_CASE("slots found right in the same round do not carry a miner over a slot that it withheld") {
    StandingWorld w(2, {"v1", "v2", "v3", "v4"});
    play_round(w.env, w.job);
    REQUIRE(w.standing() == 2);
    // One of two slots is never opened; the other is right and paid.
    play_commits(w.env, w.job, {});
    play_links(w.env, w.job, {});
    play_serves(w.env, w.job, {});
    play_panel(w.env, w.job, {});
    w.env.send(w.env.person("m1"), reveal_of(w.env, w.job, 1, true_trace(w.env.job(w.job), 1, 1)));
    w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
    play_storage(w.env, w.job, {});
    play_merges(w.env, w.job, {});
    CHECK(w.slot(1, 0).verdict == Reason::kSilentAfterDraw);
    CHECK(w.slot(1, 1).verdict == Reason::kPaid);
    CHECK(w.standing() == 0);
}

}  // namespace assay::contracts::test
