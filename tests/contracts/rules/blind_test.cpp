// SPDX-License-Identifier: Apache-2.0
// Nobody can seal what he did not compute: what is opened when, replays of slots whose starts are withheld,
// and what they cost whom.
#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const Hash256 kSalt = bytes_of("salt");

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

TEST_CASE("a seal says in the clear what it replayed, of its own slots alone, in one spelling") {
    BlindWorld w;
    w.to_serve();
    play_serves(w.env, w.job, {});
    Person& first = w.env.person(w.panel()[0]);
    const AuditSeal good = w.seal(first, {{0, true, std::vector<Hash256>(3, bytes_of("root"))}});
    REQUIRE(good.replayed == Bytes{1});
    for (const Bytes& flags : {Bytes{}, Bytes{1, 0}, Bytes{2}, Bytes{3}, Bytes{0, 1}}) {
        AuditSeal bad = good;
        bad.replayed = flags;
        w.env.refuse(Reason::kBadBitmap, first, bad);
    }
    w.env.send(first, good);
}

TEST_CASE("what is opened otherwise than its seal said is refused, and costs what silence costs") {
    for (const bool said : {true, false}) {
        CAPTURE(said);
        BlindWorld w;
        w.to_serve();
        play_serves(w.env, w.job, {});
        const auto pair = w.panel();
        Person& first = w.env.person(pair[0]);
        Person& second = w.env.person(pair[1]);
        const std::vector<SlotClaim> replay = {{0, true, std::vector<Hash256>(3, bytes_of("root"))}};
        const std::vector<SlotClaim> alone = {{0, false, {bytes_of("root")}}};
        AuditSeal seal = w.seal(first, said ? alone : replay);
        seal.replayed = {static_cast<std::uint8_t>(said ? 1 : 0)};
        w.env.send(first, seal);
        w.env.send(second, w.seal(second, alone));
        REQUIRE(w.env.round(w.job).phase == RoundPhase::kAuditOpen);
        // Neither what it sealed nor what it said.
        w.env.refuse(Reason::kWrongClaims, first,
                     AuditOpen{w.job, 0, Stage::kPanel, said ? alone : replay, kSalt});
        w.env.refuse(Reason::kSealMismatch, first,
                     AuditOpen{w.job, 0, Stage::kPanel, said ? replay : alone, kSalt});
        w.env.send(second, AuditOpen{w.job, 0, Stage::kPanel, alone, kSalt});
        w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
        play_reveals(w.env, w.job, {});
        play_storage(w.env, w.job, {});
        play_merges(w.env, w.job, {});
        CHECK(w.audit(pair[0]).reason == Reason::kAuditUnopened);
        CHECK(w.audit(pair[0]).lost == w.stake_of_accusation());
    }
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

TEST_CASE("two who say that open starts were not served take no pay from the slot without a third") {
    BlindWorld w;
    w.to_serve();
    w.finish(w.unserved(w.panel()));
    CHECK(w.slot().verdict == Reason::kPaid);
    REQUIRE(w.slot().verifiers.size() == 3);  // though the pair agrees
    CHECK(w.slot().confirmers == 1);
    CHECK(w.takes_nothing());
}

TEST_CASE("who confirms is drawn before anything is opened, and nothing tells it a root before it seals") {
    BlindWorld w;
    w.to_serve();
    play_serves(w.env, w.job, {});
    const auto pair = w.panel();
    const Play play = w.unserved(pair);
    play_seals(w.env, w.job, play, Stage::kPanel);
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kConfirmSeal);
    const SlotRound slot = w.slot();
    REQUIRE(slot.verifiers.size() == 3);
    CHECK(stage_of(1, slot) == Stage::kPanel);
    CHECK(stage_of(2, slot) == Stage::kConfirm);
    const Job job = w.env.job(w.job);
    const TraceRecord trace = true_trace(job, 0, 0);
    const auto postings = list_audits(w.env.state(), w.job, 0);
    REQUIRE(postings.size() == 3);
    for (const AuditPosting& posting : postings) {
        CHECK(posting.claims.empty());
        CHECK_FALSE(posting.opened);
        CHECK(posting.sealed == (posting.stage == Stage::kPanel));
    }
    const auto known_roots = [&] {
        int known = 0;
        for (std::uint32_t unit = 0; unit < 3; ++unit)
            known += w.is_known(program::unit_root(trace, job.spec, unit)) ? 1 : 0;
        return known;
    };
    CHECK(known_roots() == 0);
    CHECK_FALSE(w.is_known(trace.update));
    // Nobody opens yet, and nobody of the panel seals any more.
    Person& first = w.env.person(pair[0]);
    w.env.refuse(Reason::kWrongPhase, first, AuditOpen{w.job, 0, Stage::kPanel, {}, kSalt});
    w.env.refuse(Reason::kWrongPhase, first, w.seal(first, {}));
    play_seals(w.env, w.job, play, Stage::kConfirm);
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kAuditOpen);
    CHECK(known_roots() == 0);
    play_openings(w.env, w.job, play, RoundPhase::kAuditOpen);
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kReveal);
    CHECK(known_roots() == 3);
}

TEST_CASE("who confirms with a root that it made up accuses the slot, and loses the game") {
    BlindWorld w;
    w.to_serve();
    Play play = w.unserved(w.panel());
    play_serves(w.env, w.job, play);
    play_seals(w.env, w.job, play, Stage::kPanel);
    REQUIRE(w.panel().size() == 3);
    const std::string lazy = w.panel()[2];
    play.verifiers[lazy] = VerifierManner::kLies;
    w.finish(play);
    CHECK(w.slot().verdict == Reason::kPaidAccused);
    CHECK(w.audit(lazy).reason == Reason::kAuditAccuses);
    CHECK(w.takes_nothing());
    w.env.advance_to(read_claim(w.env.state(), {w.job, 0, ClaimKind::kSlot, 0})->accuse_by);
    const auto games = list_games(w.env.state(), w.job);
    REQUIRE(games.size() == 1);
    CHECK(games[0].challenger == w.env.person(lazy).node_key());
    CHECK_FALSE(games[0].claimant_lost);
    CHECK(games[0].lost == w.stake_of_accusation());
}

TEST_CASE("who says alone that it was not served takes nothing, whoever else of its panel is silent") {
    for (const std::size_t drawn : {1U, 2U, 3U}) {
        CAPTURE(drawn);
        BlindWorld w;
        w.to_serve({}, drawn);
        const auto panel = w.panel();
        Play play = w.unserved({panel[0]});
        for (std::size_t i = 1; i < drawn; ++i) play.verifiers[panel[i]] = VerifierManner::kAbsent;
        w.finish(play);
        CHECK(w.slot().confirmers == (drawn < 3 ? 1 : 0));
        CHECK(w.slot().verdict == Reason::kPaid);
        CHECK(w.takes_nothing());
        for (std::size_t i = 1; i < drawn; ++i) {
            CHECK(w.audit(panel[i]).reason == Reason::kAuditSilent);
            CHECK(w.audit(panel[i]).lost == w.stake_of_accusation());
        }
    }
}

TEST_CASE("who is silent about a confirmation pays for it, and the panel's replays are not paid") {
    for (const VerifierManner manner : {VerifierManner::kAbsent, VerifierManner::kSealsOnly}) {
        CAPTURE(static_cast<int>(manner));
        BlindWorld w;
        w.to_serve();
        Play play = w.unserved(w.panel());
        play_serves(w.env, w.job, play);
        play_seals(w.env, w.job, play, Stage::kPanel);
        REQUIRE(w.panel().size() == 3);
        const std::string silent = w.panel()[2];
        play.verifiers[silent] = manner;
        w.finish(play);
        CHECK(w.slot().verifiers.size() == 3);  // the panel opened: nothing is undecided
        CHECK(w.slot().verdict == Reason::kPaid);
        CHECK(w.audit(silent).lost == w.stake_of_accusation());
        CHECK(w.takes_nothing());
    }
}

TEST_CASE(
    "a panel that says that it replayed and opens nothing pays, and who confirms is paid the plain fee") {
    BlindWorld w;
    w.to_serve();
    const auto pair = w.panel();
    Play play = w.unserved(pair);
    play_serves(w.env, w.job, play);
    play_seals(w.env, w.job, play, Stage::kPanel);
    for (const std::string& name : pair) play.verifiers[name] = VerifierManner::kSealsOnly;
    w.finish(play);
    REQUIRE(w.panel().size() == 3);
    for (const std::string& name : pair) {
        CHECK(w.audit(name).reason == Reason::kAuditUnopened);
        CHECK(w.audit(name).lost == w.stake_of_accusation());
    }
    CHECK(w.audit(w.panel()[2]).reason == Reason::kPaidAudit);
    CHECK(w.takes_nothing());
}

TEST_CASE("where nobody is left to be a third, two who say that they were not served are believed") {
    BlindWorld w(BlindWorld::params(), {"v1", "v2"});
    w.to_serve();
    const auto pair = w.panel();
    w.finish({.verifiers = {{pair[0], VerifierManner::kUnserved}, {pair[1], VerifierManner::kUnserved}}});
    CHECK(w.slot().verifiers.size() == 2);
    CHECK(w.audit(pair[0]).from_slot == w.pay());
    CHECK(w.miner_line().paid.is_zero());
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
