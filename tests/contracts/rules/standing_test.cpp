// SPDX-License-Identifier: Apache-2.0
// What a miner's good name is worth, and what loses it; what not being served does to a verifier.
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const Play kNobodyServed = {.verifiers = {{"v1", VerifierManner::kUnserved},
                                          {"v2", VerifierManner::kUnserved},
                                          {"v3", VerifierManner::kUnserved},
                                          {"v4", VerifierManner::kUnserved}}};

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
    EnlistedVerifier enlisted(const std::string& name) {
        for (const EnlistedVerifier& verifier : env.job(job).verifiers)
            if (verifier.node == env.person(name).node_key()) return verifier;
        FAIL(name << " is not enlisted");
        std::abort();
    }
    SlotRound slot(std::uint32_t round, std::uint32_t number = 0) {
        return *read_slot(env.whole(), job, round, number);
    }
    /// Plays up to the audits and names the drawn verifiers of slot 0.
    std::vector<std::string> play_to_audit(const Play& play = {}) {
        play_commits(env, job, play);
        play_links(env, job, play);
        play_reveals(env, job, play);
        std::vector<std::string> pair;
        for (const PublicKey& node : slot(env.job(job).round).verifiers)
            pair.push_back(env.by_node(node).name);
        REQUIRE(pair.size() == 2);
        return pair;
    }
    void finish(const Play& play) {
        const std::uint32_t round = env.job(job).round;
        play_audits(env, job, play, Stage::kPair);
        play_audits(env, job, play, Stage::kThird);
        play_merges(env, job, play, Stage::kPair);
        REQUIRE(read_round(env.whole(), job, round)->phase == RoundPhase::kSettled);
    }
};

}  // namespace

TEST_CASE("bytes withheld after the draw lose no bond but the miner's standing, and twice its place") {
    StandingWorld w;
    play_round(w.env, w.job);
    REQUIRE(w.standing() == 1);
    REQUIRE_FALSE(w.slot(1).newcomer);
    play_round(w.env, w.job, kNobodyServed);
    CHECK(w.slot(1).verdict == Reason::kUnavailable);
    CHECK(w.standing() == 0);
    CHECK(w.env.stake("m1") == 50 * kPlenty);
    CHECK(w.entry().missed == 1);
    CHECK_FALSE(w.entry().dropped);
    // A newcomer again: every unit is drawn.
    CHECK(w.slot(2).newcomer);
    play_round(w.env, w.job, kNobodyServed);
    CHECK(w.slot(2).drawn_units == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(w.entry().dropped);
    CHECK(w.entry().dropped_for == Reason::kDropped);
    CHECK(w.env.job(w.job).end_reason == Reason::kNoMiners);
}

TEST_CASE("a slot left open loses the miner's standing only when a verifier was not served") {
    for (const bool unserved : {true, false}) {
        CAPTURE(unserved);
        StandingWorld w(1, {"v1", "v2"});  // no third to settle it
        play_round(w.env, w.job);
        const auto manner = unserved ? VerifierManner::kUnserved : VerifierManner::kLies;
        play_round(w.env, w.job, {.verifiers = {{"v1", manner}}});
        CHECK(w.slot(1).verdict == Reason::kUnresolved);
        CHECK(w.standing() == (unserved ? 0 : 1));
        CHECK(w.entry().missed == (unserved ? 1 : 0));
        CHECK(w.env.stake("m1") == 50 * kPlenty);
    }
}

TEST_CASE("a forfeit makes a newcomer of a proven miner") {
    for (const MinerManner manner : {MinerManner::kBadFinalise, MinerManner::kSilent}) {
        StandingWorld w;
        play_round(w.env, w.job);
        REQUIRE(w.standing() == 1);
        play_round(w.env, w.job, {.miners = {{"m1", manner}}});
        CHECK(consequence(w.slot(1).verdict) == Consequence::kForfeit);
        CHECK(w.standing() == 0);
    }
}

TEST_CASE("slots found right in the same round do not carry a miner over a slot that it withheld") {
    StandingWorld w(2, {"v1", "v2", "v3", "v4"});
    play_round(w.env, w.job);
    REQUIRE(w.standing() == 2);
    // One of two slots is never opened; the other is right and paid.
    play_commits(w.env, w.job, {});
    play_links(w.env, w.job, {});
    const Job job = w.env.job(w.job);
    RoundReveal reveal{w.job, 1, 1, true_trace(job, 1, 1), {}, bytes_of("update"), bytes_of("slot salt")};
    reveal.boundary_blobs.assign(2, bytes_of("blob"));
    w.env.send(w.env.person("m1"), reveal);
    w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
    w.finish({});
    CHECK(w.slot(1, 0).verdict == Reason::kSilentAfterDraw);
    CHECK(w.slot(1, 1).verdict == Reason::kPaid);
    CHECK(w.standing() == 0);
}

TEST_CASE("a verifier that says unavailable where two others were served misses the round, and is dropped") {
    StandingWorld w;
    const std::string crier = w.play_to_audit().front();
    const Play play = {.verifiers = {{crier, VerifierManner::kUnserved}}};
    w.finish(play);
    const auto line = line_of(w.env, w.job, 0, LineKind::kAudit, crier);
    CHECK(line.reason == Reason::kAuditUnavailable);
    CHECK(line.paid.is_zero());
    CHECK(line.lost.is_zero());
    CHECK(w.slot(0).verdict == Reason::kPaid);
    CHECK(w.standing() == 1);
    CHECK(w.enlisted(crier).missed == 1);
    // Missed in a row counts the rounds in which it is drawn.
    while (w.env.job(w.job).phase == JobPhase::kRounds && !w.enlisted(crier).dropped)
        play_round(w.env, w.job, play);
    CHECK(w.enlisted(crier).dropped);
    CHECK(w.env.stake(crier) == kPlenty);
}

TEST_CASE("a verifier that nobody can contradict misses nothing by saying unavailable") {
    StandingWorld w;
    w.play_to_audit();
    w.finish(kNobodyServed);
    CHECK(w.slot(0).verdict == Reason::kUnavailable);
    for (const char* name : {"v1", "v2", "v3"}) CHECK(w.enlisted(name).missed == 0);
}

}  // namespace assay::contracts::test
