// SPDX-License-Identifier: Apache-2.0
// Nobody can seal what he did not compute: what is opened when, replays of slots whose starts are withheld,
// and what they cost whom.
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/round/draws.hpp"
#include "tests/contracts/rules/blind_world.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const Play kNobodyServed = {.verifiers = {{"v1", VerifierManner::kUnserved},
                                          {"v2", VerifierManner::kUnserved},
                                          {"v3", VerifierManner::kUnserved}}};

Amount rest(Amount of, Amount without) { return amount(of.units() - without.units()); }

}  // namespace

TEST_CASE("before the last seal is opened the ledger holds nothing of a trace but the starts of drawn runs") {
    BlindWorld w;
    w.to_serve();
    const TraceRecord trace = true_trace(w.env.job(w.job), 0, 0);
    play_serves(w.env, w.job, {});
    const auto serve = read_serve(w.env.state(), w.job, 0, 0);
    REQUIRE(serve.has_value());
    REQUIRE(serve->starts.size() == 1);
    CHECK(serve->starts[0].unit == 2);
    CHECK(serve->starts[0].root == trace.boundaries[2]);
    play_panel(w.env, w.job, {});
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kReveal);
    CHECK(w.is_known(trace.boundaries[2]));
    for (const Hash256& hidden : {trace.boundaries[0], trace.boundaries[1], trace.update, slot_salt()}) {
        CHECK_FALSE(w.is_known(hidden));
    }
    play_reveals(w.env, w.job, {});
    CHECK(w.is_known(trace.update));
}

TEST_CASE("a start is opened under the sealed root, at its place, and names its bytes") {
    BlindWorld w;
    w.to_serve();
    Person& m1 = w.env.person("m1");
    const JobSpec spec = w.env.job(w.job).spec;
    const TraceRecord trace = true_trace(w.env.job(w.job), 0, 0);
    const RoundServe good = serve_of(w.env, w.job, 0, trace);
    const auto refuse = [&](Reason reason, const auto& change) {
        RoundServe bad = good;
        change(bad);
        w.env.refuse(reason, m1, bad);
    };
    refuse(Reason::kBadOpening, [](RoundServe& s) { s.starts.clear(); });
    refuse(Reason::kBadOpening, [](RoundServe& s) { s.starts.push_back(s.starts[0]); });
    refuse(Reason::kBadOpening, [](RoundServe& s) { s.starts[0].blob = {}; });
    refuse(Reason::kBadOpening, [](RoundServe& s) { s.starts[0].start.leaf.content[0] ^= 1; });
    refuse(Reason::kBadOpening, [](RoundServe& s) { s.starts[0].start.leaf.salt = {}; });
    refuse(Reason::kBadOpening, [](RoundServe& s) { s.starts[0].start.proof.index = 1; });
    refuse(Reason::kBadOpening, [](RoundServe& s) { s.starts[0].start.proof.siblings.pop_back(); });
    // Leaves of the same tree that are not the start of the run, and that of another trace.
    for (const auto& [kind, place] : std::vector<std::pair<program::TraceLeafKind, std::uint32_t>>{
             {program::TraceLeafKind::kStart, 1},
             {program::TraceLeafKind::kEnd, 1},
             {program::TraceLeafKind::kFinaliseOutput, 0}}) {
        refuse(Reason::kBadOpening, [&](RoundServe& s) {
            s.starts[0].start = program::open_leaf(trace, spec, slot_salt(), kind, place);
        });
    }
    refuse(Reason::kBadOpening, [&](RoundServe& s) {
        s.starts[0].start =
            program::open_leaf(w.false_trace(), spec, slot_salt(), program::TraceLeafKind::kFinaliseInput, 0);
    });
    refuse(Reason::kSealMismatch, [](RoundServe& s) { s.trace_root.bytes[0] ^= 1; });
    refuse(Reason::kSealMismatch, [](RoundServe& s) { s.salt = slot_salt(); });
    w.env.send(m1, good);
}

TEST_CASE("whoever is not served seals every unit up to its own, and nobody replays who need not") {
    BlindWorld w;
    const Play withheld = {.miners = {{"m1", MinerManner::kWithholds}}};
    w.to_serve(withheld);
    play_serves(w.env, w.job, withheld);
    Person& first = w.env.person(w.panel()[0]);
    // Nothing was opened: there is no start from which the drawn unit alone could be computed.
    w.env.refuse(Reason::kBadBitmap, first, w.seal(first, {{0, false, {bytes_of("root")}}}));
    const std::vector<SlotClaim> some = {{0, true, {bytes_of("root"), bytes_of("root")}}};
    w.env.send(first, w.seal(first, some));
    w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
    w.env.refuse(Reason::kWrongClaims, first, AuditOpen{w.job, 0, Stage::kPanel, some, kSalt});
}

TEST_CASE("a withheld start is replayed: the extra work is paid out of the slot's pay, not the escrow's") {
    for (const bool silent : {true, false}) {
        CAPTURE(silent);  // the miner opens no start, or nobody gets its bytes
        BlindWorld w;
        const Play play = silent ? Play{.miners = {{"m1", MinerManner::kWithholds}}} : kNobodyServed;
        w.to_serve(play);
        const Amount escrow = w.env.job(w.job).escrow;
        w.finish(play);
        CHECK(w.slot().verdict == Reason::kPaid);
        const SettlementLine line = w.miner_line();
        Amount replays;
        Amount plain;
        for (const std::string& name : w.panel()) {
            const SettlementLine audit = w.audit(name);
            CHECK(audit.reason == Reason::kPaidAudit);
            CHECK(audit.work_units == 1);  // `finalise`
            CHECK(audit.from_slot == std::min(w.replay_cost(), rest(w.pay(), replays)));
            CHECK(audit.paid.units() ==
                  audit.from_escrow.units() + audit.from_prepaid.units() + audit.from_slot.units());
            replays = *replays.plus(audit.from_slot);
            plain = *plain.plus(audit.from_escrow);
        }
        CHECK(line.replays == replays);
        CHECK(line.paid.units() + replays.units() == w.pay().units());
        // One replay costs what the slot pays: nothing is left for the second one.
        CHECK(line.paid.is_zero());
        CHECK(w.env.stake("m1") == 50 * kPlenty);
        CHECK(w.env.job(w.job).spent.units() >= w.pay().units() + plain.units());
        CHECK(escrow > w.env.job(w.job).escrow);
    }
}

TEST_CASE("replays never cost more than the slot's pay, and never more than the clearing price") {
    Params params = BlindWorld::params();
    params.audit_fee_ppm = 4 * kPartsPerMillion;
    BlindWorld w(params);
    w.to_serve();
    w.finish(kNobodyServed);
    CHECK(w.miner_line().replays == w.pay());
    CHECK(w.miner_line().paid.is_zero());
    const auto pair = w.panel();
    CHECK(w.audit(pair[0]).from_slot == w.pay());
    CHECK(w.audit(pair[1]).from_slot.is_zero());
}

TEST_CASE("where one verifier was served, the other's replay is paid the plain fee") {
    BlindWorld w;
    w.to_serve();
    const std::string replayer = w.panel()[0];
    w.finish({.verifiers = {{replayer, VerifierManner::kUnserved}}});
    CHECK(w.slot().verdict == Reason::kPaid);
    CHECK(w.slot().verifiers.size() == 2);  // a replay and a served run agree: no third is needed
    CHECK(w.audit(replayer).reason == Reason::kPaidAudit);
    CHECK(w.audit(replayer).from_slot.is_zero());
    CHECK(w.miner_line().paid == w.pay());
}

TEST_CASE("a replay accuses of a fault that was not drawn") {
    for (const bool served : {true, false}) {
        CAPTURE(served);
        BlindWorld w;
        // The first boundary is wrong, and nothing else: a fault of units that nobody drew.
        Play play = {.miners = {{"m1", MinerManner::kCheats}}};
        if (!served) play.verifiers = kNobodyServed.verifiers;
        w.to_serve(play);
        w.finish(play);
        CHECK(w.slot().verdict == (served ? Reason::kPaid : Reason::kPaidAccused));
        if (served) continue;
        CHECK(w.slot().fault_unit == 0);
        CHECK(w.miner_line().lost.is_zero());
        const Claim claim = *read_claim(w.env.state(), {w.job, 0, ClaimKind::kSlot, 0});
        CHECK(claim.accusations.size() == w.slot().verifiers.size());
        for (const Accusation& accusation : claim.accusations) CHECK(accusation.unit == 0);
    }
}

TEST_CASE("a false start served to some makes no honest verifier wrong, and one replay accuses") {
    for (const std::size_t served : {1U, 2U}) {
        CAPTURE(served);
        BlindWorld w;
        Play play;
        play.traces[0] = w.false_trace();
        w.to_serve(play, 3);
        // Whoever is served computes from the false start what the miner computed from it.
        play.verifiers = kNobodyServed.verifiers;
        for (std::size_t i = 0; i < served; ++i) play.verifiers[w.panel()[i]] = VerifierManner::kColludes;
        w.finish(play);
        CHECK(w.slot().verifiers.size() == 3);
        CHECK(w.slot().verdict == Reason::kPaidAccused);
        for (std::size_t i = 0; i < 3; ++i) {
            const SettlementLine line = w.audit(w.panel()[i]);
            CHECK(line.reason == (i < served ? Reason::kPaidAudit : Reason::kAuditAccuses));
            CHECK(line.lost.is_zero());
        }
    }
}

TEST_CASE("what a verifier sealed of a miner that opens no trace is paid, and the miner forfeits") {
    BlindWorld w;
    const Play play = {.miners = {{"m1", MinerManner::kSilent}}};
    w.to_serve(play);
    w.finish(play);
    CHECK(w.slot().verdict == Reason::kSilentAfterDraw);
    CHECK(w.miner_line().lost == w.slot().bond);
    for (const std::string& name : w.panel()) CHECK(w.audit(name).reason == Reason::kPaidAudit);
}

TEST_CASE("a word that nobody else said is not paid where the miner opens no trace") {
    BlindWorld w;
    const Play play = {.miners = {{"m1", MinerManner::kSilent}}};
    w.to_serve(play, 1);
    w.finish(play);
    CHECK(w.slot().verdict == Reason::kSilentAfterDraw);
    CHECK(w.audit(w.panel()[0]).reason == Reason::kAuditUndecided);
}

TEST_CASE(
    "of a slot of which nothing was drawn nobody seals anything, and it needs its trace and its bytes") {
    Params params = BlindWorld::params();
    Env env(params);
    env.miner("m1", 50 * kPlenty);
    for (const char* name : {"v1", "v2"}) env.verifier(name);
    JobSpec spec = small_job();
    spec.slots = 1;
    spec.security.audit_threshold = spec.security.finalise_threshold = UINT64_MAX / 10'000;
    const Hash256 job = env.post(spec);
    env.hold_auction(job, {{"m1", 500}}, {"v1", "v2"});
    REQUIRE(env.job(job).phase == JobPhase::kRounds);
    play_commits(env, job, {});
    play_links(env, job, {});
    REQUIRE(read_slot(env.state(), job, 0, 0)->drawn_units.empty());
    play_serves(env, job, {});
    CHECK(list_audits(env.state(), job, 0).empty());
    REQUIRE(env.round(job).phase == RoundPhase::kReveal);
    play_reveals(env, job, {});
    play_storage(env, job, {});
    play_merges(env, job, {});
    CHECK(read_slot(env.whole(), job, 0, 0)->verdict == Reason::kPaid);
    for (const SettlementLine& line : list_settlement(env.whole(), job, 0)) {
        CHECK(line.kind != LineKind::kAudit);
    }
}

}  // namespace assay::contracts::test
