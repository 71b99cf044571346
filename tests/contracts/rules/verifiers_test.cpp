// SPDX-License-Identifier: Apache-2.0
// Verifiers that are gone, differ, lie or are not served, and what becomes of slot, merge and job.
#include <utility>

#include "contracts/rules/job/tables.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const std::vector<std::string> kThree = {"v1", "v2", "v3"};

struct VerifierWorld {
    Env env;
    Hash256 job;
    std::vector<std::string> verifiers;
    std::uint32_t slots;

    explicit VerifierWorld(std::vector<std::string> names = kThree, std::uint32_t slot_count = 1)
        : verifiers(std::move(names)), slots(slot_count) {
        begin(1);
    }
    void begin(std::uint64_t seed) {
        env = Env();
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const std::string& name : verifiers) env.verifier(name);
        JobSpec spec = small_job();
        spec.slots = slots;
        spec.seed = seed;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}}, verifiers);
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
        REQUIRE(env.job(job).auction.clearing_price == amount(1'000));
    }
    /// To the audits of the first round, in the first job whose beacon draws so many for slot 0.
    std::vector<std::string> play_to_audit(std::size_t size, const Play& play = {}) {
        std::vector<PublicKey> drawn;
        for (std::uint64_t seed = 1; drawn.size() != size; ++seed) {
            REQUIRE(seed < 100);
            begin(seed);
            play_commits(env, job, play);
            play_links(env, job, play);
            drawn = read_slot(env.whole(), job, 0, 0)->verifiers;
        }
        play_serves(env, job, play);
        std::vector<std::string> panel;
        for (const PublicKey& node : drawn) panel.push_back(env.by_node(node).name);
        return panel;
    }
    void finish(const Play& play) {
        play_verdicts(env, job, play);
        play_merges(env, job, play);
        REQUIRE(read_round(env.whole(), job, 0)->phase == RoundPhase::kSettled);
    }
    Reason verdict() { return read_slot(env.whole(), job, 0, 0)->verdict; }
    Reason audit(const std::string& name) { return line_of(env, job, 0, LineKind::kAudit, name).reason; }
    std::vector<std::string> judges() {
        std::vector<std::string> names;
        const SlotRound slot = *read_slot(env.whole(), job, 0, 0);
        for (const PublicKey& node : slot.verifiers) names.push_back(env.by_node(node).name);
        return names;
    }
};

}  // namespace

TEST_CASE("where one of a panel is gone the other's word is enough") {
    for (const VerifierManner manner : {VerifierManner::kAbsent, VerifierManner::kSealsOnly}) {
        CAPTURE(static_cast<int>(manner));
        VerifierWorld w;
        const auto pair = w.play_to_audit(2);
        w.finish({.verifiers = {{pair[0], manner}}});
        CHECK(w.verdict() == Reason::kPaid);
        CHECK(w.judges() == pair);
        CHECK(w.audit(pair[0]) ==
              (manner == VerifierManner::kAbsent ? Reason::kAuditSilent : Reason::kAuditUnopened));
        CHECK(w.audit(pair[1]) == Reason::kPaidAudit);
    }
}

TEST_CASE("where all of a panel are gone one more is drawn, whose word is enough") {
    VerifierWorld w;
    const auto gone = w.play_to_audit(1);
    w.finish({.verifiers = {{gone[0], VerifierManner::kAbsent}}});
    REQUIRE(w.judges().size() == 2);
    CHECK(w.verdict() == Reason::kPaid);
    CHECK(w.audit(w.judges()[1]) == Reason::kPaidAudit);
}

TEST_CASE("what nobody recomputed is paid by default, and is no verified work") {
    VerifierWorld w;
    w.play_to_audit(2);
    w.finish({.verifiers = {{"v1", VerifierManner::kAbsent},
                            {"v2", VerifierManner::kAbsent},
                            {"v3", VerifierManner::kAbsent}}});
    CHECK(w.verdict() == Reason::kPaidUndecided);
    CHECK(w.env.stake("m1") == kPlenty);
    CHECK(list_standing(w.env.state(), w.env.person("m1").node_key()).empty());
    CHECK(w.env.job(w.job).roster.front().speeds.empty());
    CHECK(read_round(w.env.whole(), w.job, 0)->merged_slots == std::vector<std::uint32_t>{0});
    CHECK(w.env.job(w.job).round == 1);
}

TEST_CASE("no word takes a bond at once, however many are equal: neither a miner's nor a verifier's") {
    for (const VerifierManner manner : {VerifierManner::kLies, VerifierManner::kAccuses}) {
        CAPTURE(static_cast<int>(manner));
        VerifierWorld w;
        const auto panel = w.play_to_audit(3);
        std::vector<std::uint64_t> stakes;
        for (const std::string& name : panel) stakes.push_back(w.env.stake(name));
        Play play;
        for (const std::string& name : panel) play.verifiers[name] = manner;
        w.finish(play);
        CHECK(w.verdict() == Reason::kPaidAccused);
        CHECK(w.env.stake("m1") == kPlenty);
        CHECK(line_of(w.env, w.job, 0, LineKind::kSlot, "m1").lost.is_zero());
        for (std::size_t i = 0; i < panel.size(); ++i) {
            CHECK(w.audit(panel[i]) == Reason::kAuditAccuses);
            CHECK(w.env.stake(panel[i]) == stakes[i]);
        }
    }
}

TEST_CASE("an audit must be drawn, sealed, opened as sealed, and over exactly the drawn units") {
    VerifierWorld w;
    const auto pair = w.play_to_audit(2);
    Person& first = w.env.person(pair[0]);
    Person& second = w.env.person(pair[1]);
    Person& outsider = w.env.person(pair[0] != "v1" && pair[1] != "v1"   ? "v1"
                                    : pair[0] != "v2" && pair[1] != "v2" ? "v2"
                                                                         : "v3");
    const Hash256 salt = bytes_of("salt");
    std::vector<SlotClaim> claims;
    for (const AssignedSlot& slot :
         assigned_slots(w.env.state(), w.job, 0, Stage::kPanel, first.node_key())) {
        claims.push_back({slot.slot, false, {slot.units.size(), bytes_of("root")}});
    }
    REQUIRE(claims.size() == 1);
    REQUIRE(claims[0].roots.size() == 3);
    const auto seal = [&](const Person& who, const std::vector<SlotClaim>& c) {
        return audit_seal_of(w.env, w.env.job(w.job), who, Stage::kPanel, c, salt);
    };
    w.env.refuse(Reason::kNotDrawn, outsider, seal(outsider, claims));
    w.env.refuse(Reason::kWrongPhase, first, AuditOpen{w.job, 0, Stage::kPanel, claims, salt});
    AuditSeal feigned = seal(first, claims);
    feigned.replayed = {1};  // its run begins at the base: there is nothing to be served
    w.env.refuse(Reason::kBadBitmap, first, feigned);
    w.env.send(first, seal(first, claims));
    w.env.refuse(Reason::kAlreadyDone, first, seal(first, claims));
    w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
    w.env.refuse(Reason::kNoSeal, second, AuditOpen{w.job, 0, Stage::kPanel, claims, salt});
    w.env.refuse(Reason::kNotDrawn, outsider, AuditOpen{w.job, 0, Stage::kPanel, claims, salt});
    const auto wrong = [&](const std::vector<SlotClaim>& other) {
        w.env.refuse(Reason::kWrongClaims, first, AuditOpen{w.job, 0, Stage::kPanel, other, salt});
    };
    wrong({});
    std::vector<SlotClaim> changed = claims;
    changed[0].roots.pop_back();
    wrong(changed);
    changed = claims;
    changed[0].slot = 1;
    wrong(changed);
    changed = claims;
    changed[0].replayed = true;  // its seal said otherwise
    wrong(changed);
    changed = claims;
    changed[0].roots[0] = bytes_of("second thoughts");
    w.env.refuse(Reason::kSealMismatch, first, AuditOpen{w.job, 0, Stage::kPanel, changed, salt});
    w.env.send(first, AuditOpen{w.job, 0, Stage::kPanel, claims, salt});
}

TEST_CASE("a verifier that stays away is dropped, and a job without two verifiers ends") {
    VerifierWorld w({"v1", "v2", "v3"});
    const Play play = {.verifiers = {{"v1", VerifierManner::kAbsent}, {"v2", VerifierManner::kAbsent}},
                       .mergers = {{"v1", MergeManner::kSealsOnly}}};
    play_job(w.env, w.job, play);
    const Job job = w.env.job(w.job);
    const bool ended_early =
        job.end_reason == Reason::kTooFewVerifiers || job.end_reason == Reason::kMergeUnresolved;
    CHECK(ended_early);
    CHECK(line_of(w.env, w.job, 0, LineKind::kSlot, "m1").lost.is_zero());
    CHECK(w.env.stake("m1") == kPlenty);
}

TEST_CASE("nobody judges work of its own owner, and a buyer does not judge its own job") {
    Env env;
    env.miner("m1");
    // v1's owner runs a miner too.
    env.verifier("v1");
    Person& v1 = env.person("v1");
    Person& m5 = env.person("m5");
    env.send(v1, NodeRegister{m5.node_key(), prove_node_key(m5.node, v1.owner_key(), env.chain())});
    env.send(v1, MinerRegister{m5.node_key(), "127.0.0.1:1"});
    env.send(v1, StakeDeposit{m5.node_key(), amount(kPlenty)});
    for (const char* name : {"v2", "v3"}) env.verifier(name);
    const Hash256 id = env.post(small_job());
    env.hold_auction(id, {{"m1", 1}, {"m5", 1}}, {"v1", "v2", "v3"});
    play_commits(env, id, {});
    play_links(env, id, {});
    for (const SlotRound& slot : list_slots(env.whole(), id, 0)) {
        if (slot.miner != m5.node_key()) continue;
        for (const PublicKey& node : slot.verifiers) CHECK(node != v1.node_key());
    }
    const Hash256 own = env.post(small_job(), "v1");
    env.refuse(Reason::kNotParticipant, v1, VerifierEnlist{own, {}, {}});
}

}  // namespace assay::contracts::test
