// SPDX-License-Identifier: Apache-2.0
// Gives tests of blind audits a job with one slot whose start every verifier needs.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

/// Of seals that a test makes itself.
inline const Hash256 kSalt = bytes_of("salt");

/// One slot, past probation, of which practically only `finalise` is drawn: unit 2, behind two segments.
struct BlindWorld {
    Env env;
    Hash256 job;
    Params rules;
    std::vector<std::string> verifiers;

    static Params params() {
        Params params = short_windows();
        params.probation_rounds = 0;
        return params;
    }
    explicit BlindWorld(const Params& chosen = BlindWorld::params(),
                        std::vector<std::string> names = {"v1", "v2", "v3"})
        : rules(chosen), verifiers(std::move(names)) {
        begin(1);
    }
    void begin(std::uint64_t seed) {
        env = Env(rules);
        env.miner("m1", 50 * kPlenty);
        for (const std::string& name : verifiers) env.verifier(name);
        JobSpec spec = small_job();
        spec.slots = 1;
        spec.seed = seed;
        spec.security.audit_threshold = UINT64_MAX / 10'000;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}}, verifiers);
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
    }
    SlotRound slot() { return *read_slot(env.whole(), job, 0, 0); }
    /// In the first job whose beacon draws so many for the slot.
    void to_serve(const Play& play = {}, std::size_t panel = 2) {
        std::size_t drawn = 0;
        for (std::uint64_t seed = 1; drawn != panel; ++seed) {
            REQUIRE(seed < 100);
            begin(seed);
            play_commits(env, job, play);
            play_links(env, job, play);
            drawn = slot().verifiers.size();
        }
        REQUIRE(env.round(job).phase == RoundPhase::kServe);
        REQUIRE(slot().drawn_units == std::vector<std::uint32_t>{2});
    }
    std::vector<std::string> panel() {
        std::vector<std::string> names;
        for (const PublicKey& node : slot().verifiers) names.push_back(env.by_node(node).name);
        return names;
    }
    void finish(const Play& play) {
        play_verdicts(env, job, play);
        play_merges(env, job, play);
        REQUIRE(read_round(env.whole(), job, 0)->phase == RoundPhase::kSettled);
    }
    SettlementLine audit(const std::string& name) { return line_of(env, job, 0, LineKind::kAudit, name); }
    SettlementLine miner_line() { return line_of(env, job, 0, LineKind::kSlot, "m1"); }
    /// Of the panel, with the salt kSalt.
    AuditSeal seal(const Person& who, const std::vector<SlotClaim>& claims) {
        return audit_seal_of(env, env.job(job), who, Stage::kPanel, claims, kSalt);
    }
    static Play unserved(const std::vector<std::string>& names) {
        Play play;
        for (const std::string& name : names) play.verifiers[name] = VerifierManner::kUnserved;
        return play;
    }
    /// Whether no audit is paid out of the slot, whose miner has all of it.
    bool takes_nothing() {
        for (const std::string& name : panel())
            if (!audit(name).from_slot.is_zero()) return false;
        return miner_line().paid == pay() && miner_line().replays.is_zero();
    }
    Amount stake_of_accusation() {
        const Job record = env.job(job);
        return accusation_stake(env.params(), record.auction.clearing_price, record.slot_work).value();
    }
    [[nodiscard]] Amount pay() const {
        const Job record = env.job(job);
        return slot_pay(record.auction.clearing_price, record.slot_work).value();
    }
    /// What both segments cost one who was served no start of `finalise`.
    [[nodiscard]] Amount replay_cost() const {
        const Job record = env.job(job);
        const std::uint64_t work =
            unit_work(record.spec, record.slot_work, 0) + unit_work(record.spec, record.slot_work, 1);
        return replay_fee(record.auction.clearing_price, work).value();
    }
    /// A trace whose first segment is wrong, and so is all that follows.
    TraceRecord false_trace() {
        TraceRecord trace = true_trace(env.job(job), 0, 0);
        trace.boundaries[1] = bytes_of("false 1");
        trace.boundaries[2] = bytes_of("false 2");
        trace.update = bytes_of("false update");
        return trace;
    }
    bool is_known(const Hash256& hash) {
        bool found = false;
        for (const auto& [key, value] : env.state().scan({})) {
            const auto at = std::search(value.begin(), value.end(), hash.bytes.begin(), hash.bytes.end());
            found = found || at != value.end();
        }
        return found;
    }
};

}  // namespace assay::contracts::test
