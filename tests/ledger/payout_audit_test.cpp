// SPDX-License-Identifier: Apache-2.0
// The audit of payouts on ledgers that the rules themselves settled: nothing is reported on an untouched one,
// and one changed record is reported at its place under its rule.
#include "ledger/audit/payout_audit.hpp"

#include <algorithm>
#include <functional>

#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::ledger {

namespace {

using namespace contracts;
using namespace contracts::test;

Params one_round_of_probation() {
    Params params = short_windows();
    params.probation_rounds = 1;
    params.ask_deposit = amount(1'000);
    return params;
}

std::string listing(const PayoutReport& report) {
    std::string text;
    for (const AuditFailure& failure : report.failures) text += failure.where + ": " + failure.what + "\n";
    return text;
}

// Round 0 is honest, in round 1 a proven miner hands in a false update and loses the games about it, in round
// 2 a drawn verifier is silent. One verifier is drawn for slot 0 of round 0.
struct Settled {
    Env env{one_round_of_probation()};
    Hash256 job;
    std::uint32_t cheated_slot = 0;
    std::uint32_t honest_slot = 0;
    std::string silent = "v2";

    Settled() {
        std::uint64_t seed = 0;
        do {
            REQUIRE(++seed < 100);
            play(seed);
        } while (read_slot(env.whole(), job, 0, 0)->verifiers.size() != 1 || !was_silent());
        REQUIRE(read_slot(env.whole(), job, 1, cheated_slot)->verdict == Reason::kPaidAccused);
        REQUIRE(list_games(env.whole(), job).front().claimant_lost);
    }
    [[nodiscard]] bool was_silent() const {
        const auto lines = list_settlement(env.whole(), job, 2);
        return std::any_of(lines.begin(), lines.end(),
                           [](const SettlementLine& line) { return line.reason == Reason::kAuditSilent; });
    }
    void play(std::uint64_t seed) {
        env = Env(one_round_of_probation());
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        JobSpec spec = small_job();
        spec.seed = seed;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}, {"m3", 700}}, {"v1", "v2", "v3"});
        REQUIRE(env.job(job).auction.clearing_price == amount(700));
        play_round(env, job);
        cheated_slot = slot_of(env, job, "m2");
        honest_slot = slot_of(env, job, "m1");
        play_round(env, job, {.miners = {{"m2", MinerManner::kBadFinalise}}});
        play_accusations(env, job, 1, {});
        play_round(env, job, {.verifiers = {{silent, VerifierManner::kAbsent}}});
        play_job(env, job);  // the windows
        REQUIRE(env.job(job).phase == JobPhase::kEnded);
    }

    [[nodiscard]] std::string place(std::uint32_t round) const {
        return "job " + job.brief() + " round " + std::to_string(round);
    }
    [[nodiscard]] std::string place(std::uint32_t round, std::uint32_t slot) const {
        return place(round) + " slot " + std::to_string(slot);
    }
    /// Number of the first line of this round for which `wanted` holds.
    [[nodiscard]] std::uint32_t line(std::uint32_t round,
                                     const std::function<bool(const SettlementLine&)>& wanted) const {
        const auto lines = list_settlement(env.whole(), job, round);
        for (std::uint32_t at = 0; at < lines.size(); ++at) {
            if (wanted(lines[at])) return at;
        }
        FAIL("no such line in round " << round);
        std::abort();
    }
    [[nodiscard]] std::uint32_t slot_line(std::uint32_t round, std::uint32_t slot) const {
        return line(round,
                    [&](const SettlementLine& l) { return l.kind == LineKind::kSlot && l.slot == slot; });
    }
    /// The audit with one record changed must report at `where` something that begins with `rule`, and
    /// nothing outside this job.
    void expect(const std::function<void(MemoryState&)>& change, const std::string& where,
                const std::string& rule) const {
        MemoryState state = env.with_evidence();
        change(state);
        REQUIRE(state.all() != env.with_evidence().all());
        const PayoutReport report = audit_payouts(state);
        INFO("wanted " << where << ": " << rule << "\nreported\n" << listing(report));
        bool found = false;
        for (const AuditFailure& failure : report.failures) {
            CHECK(failure.where.starts_with("job " + job.brief()));
            CHECK(failure.job == job);
            found = found || (failure.where == where && failure.what.starts_with(rule));
        }
        CHECK(found);
    }
    /// The same with one record changed.
    template <class Record>
    void expect(const Bytes& key, const std::function<void(Record&)>& change, const std::string& where,
                const std::string& rule) const {
        expect(
            [&](MemoryState& state) {
                auto record = load<Record>(state, key);
                REQUIRE(record.has_value());
                change(*record);
                store(state, key, *record);
            },
            where, rule);
    }
    void expect_line(std::uint32_t round, std::uint32_t at,
                     const std::function<void(SettlementLine&)>& change, const std::string& rule) const {
        const auto line = list_settlement(env.whole(), job, round).at(at);
        const bool of_slot = line.kind == LineKind::kSlot || line.kind == LineKind::kAudit;
        const std::string where = of_slot ? place(round, line.slot) : place(round);
        expect<SettlementLine>(settlement_key(job, round, at), change, where + " line " + std::to_string(at),
                               rule);
    }
    void expect_slot(std::uint32_t round, std::uint32_t slot, const std::function<void(SlotRound&)>& change,
                     const std::string& rule) const {
        expect<SlotRound>(slot_key(job, round, slot), change, place(round, slot), rule);
    }
    void expect_round(std::uint32_t round, const std::function<void(Round&)>& change,
                      const std::string& rule) const {
        expect(
            [&](MemoryState& state) {
                Round record = read_round(state, job, round).value();
                change(record);
                write_round(state, record);
            },
            place(round), rule);
    }
    void expect_job(const std::function<void(Job&)>& change, const std::string& rule) const {
        expect(
            [&](MemoryState& state) {
                Job record = read_job(state, job).value();
                change(record);
                write_job(state, record);
            },
            "job " + job.brief(), rule);
    }
};

void more(Amount& value) { value = amount(value.units() + 1); }

}  // namespace

TEST_CASE("honest work, a caught cheat and a silent verifier: the payouts of an untouched ledger pass") {
    const Settled settled;
    const PayoutReport report = audit_payouts(settled.env.with_evidence());
    INFO(listing(report));
    CHECK(report.ok());
    REQUIRE(report.jobs.size() == 1);
    CHECK(report.jobs[0].rounds == 3);
    CHECK(report.jobs[0].delta == 0);
    CHECK(report.jobs[0].to_miners == 5 * 700 * settled.env.job(settled.job).slot_work);
    CHECK(report.jobs[0].forfeited > 0);
}

TEST_CASE("whatever the parties did, a ledger that the rules settled passes, in every phase") {
    const std::vector<Play> plays = {
        {.miners = {{"m1", MinerManner::kCheats}}},
        {.miners = {{"m1", MinerManner::kAbsent}, {"m2", MinerManner::kSilent}}},
        {.verifiers = {{"v1", VerifierManner::kLies}}},
        {.verifiers = {{"v1", VerifierManner::kLies}, {"v2", VerifierManner::kSealsOnly}}},
        {.verifiers = {{"v1", VerifierManner::kUnserved}, {"v2", VerifierManner::kUnserved}}},
        {.verifiers = {{"v1", VerifierManner::kLeavesOut}, {"v2", VerifierManner::kLeavesOut}}},
        // Who confirms is drawn by what was sealed, before an opening says what it leaves out.
        {.verifiers = {{"v1", VerifierManner::kUnserved},
                       {"v2", VerifierManner::kLeavesOut},
                       {"v3", VerifierManner::kLeavesOut}}},
        {.verifiers = {{"v1", VerifierManner::kUnserved},
                       {"v2", VerifierManner::kUnservedLeavesOut},
                       {"v3", VerifierManner::kUnservedLeavesOut}}},
        {.verifiers = {{"v1", VerifierManner::kUnservedLeavesOut},
                       {"v2", VerifierManner::kUnservedLeavesOut},
                       {"v3", VerifierManner::kUnservedLeavesOut}}},
        {.miners = {{"m2", MinerManner::kCheats}}, .verifiers = {{"v2", VerifierManner::kColludes}}},
        {.verifiers = {{"v1", VerifierManner::kAccuses}, {"v2", VerifierManner::kAccuses}}},
        {.miners = {{"m1", MinerManner::kWithholds}}},
        {.miners = {{"m1", MinerManner::kWithholds}, {"m2", MinerManner::kCheats}},
         .verifiers = {{"v1", VerifierManner::kUnserved},
                       {"v2", VerifierManner::kUnserved},
                       {"v3", VerifierManner::kUnserved}}},
        {.holders = {{"v1", HolderManner::kAbsent}, {"v2", HolderManner::kEmpty}}},
        {.lost_updates = {1}},
        {.mergers = {{"v1", MergeManner::kLies}, {"v2", MergeManner::kAbsent}}},
        {.mergers = {{"v3", MergeManner::kLies}}},
        {.mergers = {{"v1", MergeManner::kCensors}, {"v2", MergeManner::kCensors}}},
        {.lost_updates = {0, 1}},
        {.miners = {{"m2", MinerManner::kFeignsDivergence}}},
        {.mergers = {{"v1", MergeManner::kDiverged},
                     {"v2", MergeManner::kDiverged},
                     {"v3", MergeManner::kDiverged}}},
        {.mergers = {{"v1", MergeManner::kAbsent},
                     {"v2", MergeManner::kAbsent},
                     {"v3", MergeManner::kAbsent}}},
        {.withhold_links = {"buyer", "v2"}},
        {.withhold_links = {"buyer", "v1", "v2", "v3", "sequencer"}},
    };
    for (const std::uint64_t seed : {std::uint64_t{7}, kDivergingSeed}) {
        for (std::size_t i = 0; i < plays.size(); ++i) {
            Env env(one_round_of_probation());
            env.miner("m1");
            env.miner("m2");
            env.miner("m3");
            for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
            JobSpec spec = small_job();
            spec.seed = seed;
            spec.security.audit_threshold = UINT64_MAX / 10;
            // Each second play draws the update's recomputation at a rate of its own.
            if (i % 2 == 1) spec.security.finalise_threshold = UINT64_MAX / 5;
            const Hash256 job = env.post(spec);
            env.hold_auction(job, {{"m1", 500}, {"m2", 600}, {"m3", 400}}, {"v1", "v2", "v3"}, true, [&] {
                Person& m3 = env.person("m3");  // keeps nothing for a bond
                env.send(m3, StakeWithdraw{m3.node_key(), read_stake(env.state(), m3.node_key()).free});
            });
            REQUIRE(env.job(job).auction.short_stake == 1);
            while (env.job(job).phase == JobPhase::kRounds) {
                const std::uint32_t round = env.job(job).round;
                play_commits(env, job, plays[i]);
                if (env.job(job).round == round && env.round(job).phase == RoundPhase::kCommit)
                    env.advance_to(env.round(job).phase_deadline + 1);
                const PayoutReport midway = audit_payouts(env.with_evidence());
                INFO("seed " << seed << " play " << i << "\n" << listing(midway));
                CHECK(midway.ok());
                play_links(env, job, plays[i]);
                while (env.job(job).phase == JobPhase::kRounds && env.job(job).round == round) {
                    const RoundPhase before = env.round(job).phase;
                    play_verdicts(env, job, plays[i]);
                    play_merges(env, job, plays[i]);
                    if (env.job(job).phase == JobPhase::kRounds && env.job(job).round == round &&
                        env.round(job).phase == before)
                        env.let_deadline_pass();
                }
            }
            for (const bool ended : {false, true}) {
                if (ended) play_job(env, job);  // the windows
                const PayoutReport report = audit_payouts(env.with_evidence());
                INFO("seed " << seed << " play " << i << "\n" << listing(report));
                CHECK(report.ok());
            }
        }
    }
}

TEST_CASE("a changed settlement line is reported with job, round, slot and rule") {
    const Settled s;
    const std::uint32_t honest = s.slot_line(0, 0);
    s.expect_line(
        0, honest, [](SettlementLine& l) { more(l.paid); }, "slot payment");
    s.expect_line(
        0, honest,
        [](SettlementLine& l) {
            more(l.paid);
            more(l.from_escrow);
        },
        "slot payment");
    s.expect_line(
        0, honest, [](SettlementLine& l) { l.reason = Reason::kUnresolved; }, "slot payment");
    s.expect_line(
        0, honest, [](SettlementLine& l) { more(l.price); }, "slot payment");
    s.expect_line(
        0, honest, [](SettlementLine& l) { l.owner = l.node; }, "slot payment");
    const std::uint32_t cheat = s.slot_line(1, s.cheated_slot);
    s.expect_line(
        1, cheat, [](SettlementLine& l) { l.reason = Reason::kPaid; }, "slot payment");
    s.expect_line(
        1, cheat, [](SettlementLine& l) { more(l.lost); }, "slot payment");
    s.expect_line(
        1, cheat, [](SettlementLine& l) { more(l.lost_to_buyer); }, "slot payment");
    const std::uint32_t silent =
        s.line(2, [](const SettlementLine& l) { return l.reason == Reason::kAuditSilent; });
    s.expect_line(
        2, silent, [](SettlementLine& l) { l.reason = Reason::kPaidAudit; }, "audit payment");
    s.expect_line(
        2, silent, [](SettlementLine& l) { l.reason = Reason::kAuditUndecided; }, "audit payment");
    s.expect_line(
        2, silent,
        [](SettlementLine& l) {
            more(l.paid);
            more(l.from_escrow);
        },
        "audit payment");
    const std::uint32_t merge =
        s.line(0, [](const SettlementLine& l) { return l.reason == Reason::kPaidMerge; });
    s.expect_line(
        0, merge, [](SettlementLine& l) { more(l.paid); }, "merge payment");
    s.expect_line(
        0, merge, [](SettlementLine& l) { l.reason = Reason::kMergeSilent; }, "merge payment");
}

TEST_CASE("a silent verifier without its zero line is reported") {
    const Settled s;
    const std::uint32_t silent =
        s.line(2, [](const SettlementLine& l) { return l.reason == Reason::kAuditSilent; });
    const SettlementLine line = list_settlement(s.env.whole(), s.job, 2).at(silent);
    // Its place is taken by a second line of the slot's miner.
    s.expect<SettlementLine>(
        settlement_key(s.job, 2, silent),
        [&](SettlementLine& l) {
            l = list_settlement(s.env.whole(), s.job, 2).at(s.slot_line(2, line.slot));
        },
        s.place(2, line.slot), "settlement: the audit by " + line.node.brief() + " has 0 lines");
}

TEST_CASE("a changed claim, reveal, verdict or fault is reported at its slot") {
    const Settled s;
    const SlotRound honest = *read_slot(s.env.whole(), s.job, 0, 0);
    const Bytes posting = audit_key(s.job, 0, Stage::kPanel, honest.verifiers.at(0));
    const auto claim_of_slot = [](AuditPosting& p, std::uint32_t slot) -> SlotClaim& {
        for (SlotClaim& claim : p.claims) {
            if (claim.slot == slot) return claim;
        }
        FAIL("no claim about the slot");
        std::abort();
    };
    s.expect<AuditPosting>(
        posting, [&](AuditPosting& p) { claim_of_slot(p, 0).roots[0] = bytes_of("other"); }, s.place(0, 0),
        "verdict");
    s.expect<AuditPosting>(
        posting, [&](AuditPosting& p) { claim_of_slot(p, 0).roots.pop_back(); }, s.place(0, 0), "audit");
    s.expect<AuditPosting>(
        posting, [&](AuditPosting& p) { claim_of_slot(p, 0).replayed = true; }, s.place(0, 0), "audit");
    s.expect<AuditPosting>(
        posting, [](AuditPosting& p) { p.opened = false; }, s.place(0, 0), "verdict");
    s.expect<Reveal>(
        reveal_key(s.job, 0, 0), [](Reveal& r) { r.trace.update = bytes_of("other"); }, s.place(0, 0),
        "reveal");
    s.expect<Reveal>(
        reveal_key(s.job, 0, 0), [](Reveal& r) { r.trace.boundaries.pop_back(); }, s.place(0, 0), "reveal");

    const std::uint32_t cheated = s.cheated_slot;
    s.expect_slot(
        1, cheated, [](SlotRound& x) { x.fault_found = bytes_of("other"); }, "verdict");
    s.expect_slot(
        1, cheated, [](SlotRound& x) { x.fault_claimed = bytes_of("other"); }, "verdict");
    s.expect_slot(
        1, cheated, [](SlotRound& x) { x.fault_unit = 0; }, "verdict");
    s.expect_slot(
        1, cheated, [](SlotRound& x) { x.verdict = Reason::kPaid; }, "verdict");
    s.expect_slot(
        1, s.honest_slot, [](SlotRound& x) { x.verdict = Reason::kPaidAccused; }, "verdict");
    s.expect_slot(
        0, 0, [](SlotRound& x) { x.verdict = Reason::kPaidDiverged; }, "verdict");
    s.expect_slot(
        0, 0, [](SlotRound& x) { x.verdict = Reason::kPaidUndecided; }, "verdict");
}

TEST_CASE("a changed bitmap, what it says of a slot, and a changed replay fee are reported at their places") {
    const Settled s;
    s.expect_slot(
        0, 0, [](SlotRound& x) { x.stored = false; }, "storage");
    s.expect_slot(
        0, 0, [](SlotRound& x) { x.diverged_unit = 1; }, "draw");
    const Bytes bitmap = storage_key(s.job, 0, list_storage(s.env.whole(), s.job, 0).front().verifier);
    s.expect<StoragePosting>(
        bitmap, [](StoragePosting& p) { p.bits.push_back(0); }, s.place(0), "storage");
    s.expect<StoragePosting>(
        bitmap, [](StoragePosting& p) { p.bits[0] = 0xff; }, s.place(0), "storage");
    s.expect<StoragePosting>(
        bitmap, [](StoragePosting& p) { p.bits[0] = 0; }, s.place(0, 0), "storage");
    const std::uint32_t honest = s.slot_line(0, 0);
    s.expect_line(
        0, honest, [](SettlementLine& l) { more(l.replays); }, "slot payment");
    s.expect_line(
        0, honest, [](SettlementLine& l) { more(l.from_slot); }, "slot payment");
    const std::uint32_t audit = s.line(0, [](const SettlementLine& l) { return l.kind == LineKind::kAudit; });
    s.expect_line(
        0, audit,
        [](SettlementLine& l) {
            more(l.paid);
            more(l.from_slot);
        },
        "audit payment");
}

TEST_CASE("changed draws, links and beacons are reported at their round") {
    const Settled s;
    s.expect_slot(
        0, 0, [](SlotRound& x) { x.drawn_units = {2}; }, "draw");
    s.expect_slot(
        1, s.honest_slot, [](SlotRound& x) { x.drawn_units.pop_back(); }, "draw");
    s.expect_slot(
        0, 0, [](SlotRound& x) { x.verifiers.push_back(x.verifiers[0]); }, "draw");
    s.expect_slot(
        0, 0, [](SlotRound& x) { x.verifiers[0] = x.miner; }, "draw");
    s.expect_slot(
        0, 0, [](SlotRound& x) { x.verifiers.clear(); }, "draw");
    s.expect_round(
        0, [](Round& r) { std::swap(r.merges[0], r.merges[1]); }, "merge");
    s.expect_round(
        0, [](Round& r) { r.merges[0].claim.slots = {0x80}; }, "merge");
    s.expect_round(
        0, [](Round& r) { r.merged = false; }, "merge");
    s.expect_round(
        0, [](Round& r) { more(r.judges[0].weight); }, "judges");
    s.expect_round(
        1, [](Round& r) { r.judges.pop_back(); }, "judges");
    s.expect_round(
        0, [](Round& r) { r.judges.push_back(r.judges[0]); }, "judges");
    for (const std::uint32_t round : {0U, 1U, 2U}) {
        s.expect_round(
            round, [](Round& r) { r.beacon = bytes_of("other"); }, "beacon");
        s.expect_round(
            round, [](Round& r) { r.links[1].link = bytes_of("other"); }, "beacon");
        s.expect_round(
            round, [](Round& r) { r.links[0].opened = false; }, "beacon");
        s.expect_round(
            round, [](Round& r) { r.link_missing = true; }, "beacon");
    }
    s.expect_round(
        0, [](Round& r) { r.result.base_root = bytes_of("other"); }, "merge");
    s.expect_round(
        1,
        [&](Round& r) {
            r.merged_slots = {0, 1};
        },
        "merge");
    s.expect_round(
        1, [](Round& r) { ++r.lines; }, "settlement");
}

TEST_CASE("a changed price, ask, refund or escrow is reported at its job") {
    const Settled s;
    s.expect_job([](Job& j) { more(j.auction.clearing_price); }, "auction");
    s.expect_job([](Job& j) { j.auction.clearing_price = j.spec.market.max_price; }, "auction");
    s.expect_job([](Job& j) { j.auction.first_rejected.reset(); }, "auction");
    s.expect_job([](Job& j) { std::swap(j.roster[0], j.roster[1]); }, "auction");
    s.expect_job([](Job& j) { j.auction.winners = 3; }, "auction");
    s.expect_job([](Job& j) { more(j.refunded); }, "escrow");
    s.expect_job([](Job& j) { more(j.escrow); }, "escrow");
    s.expect_job([](Job& j) { more(j.spent); }, "escrow");
    const auto asks = list_asks(s.env.whole(), s.job);
    REQUIRE(asks.size() == 3);
    for (const Ask& ask : asks) {
        const Bytes key = ask_key(s.job, ask.miner);
        const std::string where = "job " + s.job.brief();
        s.expect<Ask>(
            key, [](Ask& a) { more(a.price); }, where, "auction");
        s.expect<Ask>(
            key, [](Ask& a) { a.price = amount(2'000); }, where, "auction");
        s.expect<Ask>(
            key, [](Ask& a) { a.revealed = false; }, where, "auction");
        s.expect<Ask>(
            key, [](Ask& a) { a.salt = bytes_of("other"); }, where, "auction: the ask of");
    }
}

TEST_CASE("a training loss that is not the mean of the audited steps is reported at its round") {
    const Settled s;
    s.expect_round(
        0, [](Round& r) { ++r.train_loss; }, "merge: its training");
    s.expect_round(
        0, [](Round& r) { ++r.train_steps; }, "merge: its training");
}

TEST_CASE("payouts are judged by the parameters of the job, not by those that are current when one looks") {
    const Settled w;
    MemoryState state = w.env.with_evidence();
    Params other;
    other.audit_fee_ppm = 2'000'000;
    other.merge_fee_ppm = 1;
    other.forfeit_buyer_ppm = 1;
    set_current_params(state, other);
    const PayoutReport report = audit_payouts(state);
    INFO(listing(report));
    CHECK(report.ok());
    // And the set under the job's hash is the one that has this hash.
    store(state, param_set_key(w.env.job(w.job).params), other);
    const PayoutReport forged = audit_payouts(state);
    REQUIRE(forged.failures.size() == 1);
    CHECK(forged.failures.front().what.starts_with("terms:"));
}

}  // namespace assay::ledger
