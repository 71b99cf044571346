// SPDX-License-Identifier: Apache-2.0
// The audit of payouts where members of a roster are absent, and others take their places.
#include <algorithm>
#include <functional>

#include "contracts/rules/state/store.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::ledger {

using namespace contracts;
using namespace contracts::test;

static std::string said(const PayoutReport& report) {
    std::string text;
    for (const AuditFailure& failure : report.failures) text += failure.where + ": " + failure.what + "\n";
    return text;
}

TEST_CASE(
    "absences that cost, joiners and windows are judged from the records, and a changed one is reported") {
    Env env;
    for (const char* name : {"m1", "m2", "m3", "m4"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    JobSpec spec = small_job();
    spec.rounds = 5;
    const Hash256 job = env.post(spec);
    env.hold_auction(job, {{"m1", 0}, {"m2", 0}}, {"v1", "v2", "v3"});
    const Play both = {.miners = {{"m1", MinerManner::kAbsent}, {"m2", MinerManner::kAbsent}}};
    play_round(env, job, both);
    play_round(env, job, both);
    REQUIRE(env.job(job).phase == JobPhase::kRefill);
    CHECK(audit_payouts(env.with_evidence()).ok());
    env.send(env.person("m3"), JobJoin{job});
    env.send(env.person("m4"), JobJoin{job});
    while (env.job(job).phase == JobPhase::kRefill) env.let_deadline_pass();
    play_round(env, job, {.miners = {{"m3", MinerManner::kAbsent}}});
    play_round(env, job, {.miners = {{"m4", MinerManner::kSilent}}});
    play_job(env, job);
    const PayoutReport midway = audit_payouts(env.with_evidence());
    INFO(said(midway));
    CHECK(midway.ok());
    CHECK(line_of(env, job, 2, LineKind::kSlot, "m3").reason == Reason::kNoCommitAgain);
    const MemoryState whole = env.with_evidence();
    CHECK(audit_payouts(whole).ok());
    const auto lines = list_settlement(whole, job, 1);
    const auto again = std::find_if(lines.begin(), lines.end(), [](const SettlementLine& line) {
        return line.reason == Reason::kNoCommitAgain;
    });
    REQUIRE(again != lines.end());
    const auto number = static_cast<std::uint32_t>(again - lines.begin());
    const auto rejects = [&](const std::function<void(SettlementLine&)>& change) {
        MemoryState changed = whole;
        SettlementLine line = *again;
        change(line);
        store(changed, settlement_key(job, 1, number), line);
        const PayoutReport report = audit_payouts(changed);
        return !report.ok() && report.failures.front().what.starts_with("slot payment");
    };
    CHECK(rejects([](SettlementLine& l) { l.reason = Reason::kNoCommit; }));
    CHECK(rejects([](SettlementLine& l) { l.lost = l.lost_to_buyer = l.lost_burned = {}; }));
    CHECK(rejects([](SettlementLine& l) { std::swap(l.lost_to_buyer, l.lost_burned); }));
    // Nor is the verdict taken at its word.
    MemoryState changed = whole;
    SlotRound slot = *read_slot(changed, job, 1, again->slot);
    slot.verdict = Reason::kNoCommit;
    store(changed, slot_key(job, 1, again->slot), slot);
    CHECK_FALSE(audit_payouts(changed).ok());
    // A joiner works at the clearing price.
    MemoryState dearer = whole;
    RosterEntry entry = env.job(job).roster.back();
    entry.ask = amount(entry.ask.units() + 1);
    store(dearer, roster_key(job, entry.node), entry);
    CHECK_FALSE(audit_payouts(dearer).ok());
}

TEST_CASE("what a slot carries over a round without a merge is judged as the rules have it") {
    Env env(short_windows());
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    JobSpec spec = small_job();
    spec.rounds = 4;
    spec.inner_state = program::InnerState::kCarried;
    const Hash256 job = env.post(spec);
    env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    play_round(env, job);
    play_round(env, job, {.mergers = {{"v1", MergeManner::kCensors}, {"v2", MergeManner::kCensors}}});
    REQUIRE(read_round(env.whole(), job, 1)->merged_slots.empty());
    REQUIRE(read_slot(env.whole(), job, 1, 0)->verdict == Reason::kPaid);
    CHECK_FALSE(carried_in(env.state(), job, 1, 0).nothing());
    CHECK(carried_in(env.state(), job, 2, 0).nothing());
    play_job(env, job);
    REQUIRE(env.job(job).end_reason == Reason::kJobComplete);
    const PayoutReport report = audit_payouts(env.with_evidence());
    INFO(said(report));
    CHECK(report.ok());
}

TEST_CASE("a changed penalty is reported at its line, and a changed lock at its job and round") {
    Params params = short_windows();
    params.probation_rounds = 1;
    params.ask_deposit = amount(1'000);
    // Of the jobs, one whose beacon draws the verifier that never opens.
    bool found = false;
    for (std::uint64_t seed = 1; seed < 20 && !found; ++seed) {
        Env env(params);
        for (const char* name : {"m1", "m2"}) env.miner(name, 50 * kPlenty);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        JobSpec spec = small_job();
        spec.seed = seed;
        spec.security.audit_threshold = UINT64_MAX / 10'000;
        const Hash256 job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        play_round(env, job);
        play_round(env, job, {.verifiers = {{"v1", VerifierManner::kSealsOnly}}});
        const PayoutReport report = audit_payouts(env.with_evidence());
        INFO(said(report));
        CHECK(report.ok());
        const auto lines = list_settlement(env.whole(), job, 1);
        const auto penalised = std::find_if(lines.begin(), lines.end(),
                                            [](const SettlementLine& l) { return !l.lost.is_zero(); });
        if (penalised == lines.end()) continue;
        found = true;
        MemoryState state = env.with_evidence();
        SettlementLine less = *penalised;
        less.lost = less.lost_burned = amount(less.lost.units() - 1);
        store(state, settlement_key(job, 1, static_cast<std::uint32_t>(penalised - lines.begin())), less);
        const PayoutReport changed = audit_payouts(state);
        INFO(said(changed));
        REQUIRE_FALSE(changed.ok());
        CHECK(changed.failures[0].where.starts_with("job " + job.brief() + " round 1 slot"));
        CHECK(changed.failures[0].what.starts_with("audit payment: the penalty is"));
        // Whoever locked less than the job asks was not to be enlisted.
        state = env.with_evidence();
        Job record = env.job(job);
        record.verifiers[0].locked = amount(1);
        write_job(state, record);
        const PayoutReport enlisted = audit_payouts(state);
        REQUIRE_FALSE(enlisted.ok());
        CHECK(enlisted.failures[0].what.starts_with("enlistment: "));
    }
    CHECK(found);
}

}  // namespace assay::ledger
