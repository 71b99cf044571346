// SPDX-License-Identifier: Apache-2.0
// Verifiers that are gone, differ, lie or are not served, and what becomes of slot, merge and job.
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const std::vector<std::string> kThree = {"v1", "v2", "v3"};

struct VerifierWorld {
    Env env;
    Hash256 job;

    explicit VerifierWorld(const std::vector<std::string>& verifiers = kThree, std::uint32_t slots = 1) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const std::string& name : verifiers) env.verifier(name);
        JobSpec spec = small_job();
        spec.slots = slots;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}}, verifiers);
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
        REQUIRE(env.job(job).auction.clearing_price == amount(1'000));
    }
    /// One of the pair that the running round's beacon will draw is only known after it: plays up to there.
    std::vector<std::string> play_to_audit(const Play& play = {}) {
        play_commits(env, job, play);
        play_links(env, job, play);
        play_serves(env, job, play);
        std::vector<std::string> pair;
        const SlotRound slot = *read_slot(env.whole(), job, 0, 0);
        for (const PublicKey& node : slot.verifiers) {
            pair.push_back(env.by_node(node).name);
        }
        REQUIRE(pair.size() == 2);
        return pair;
    }
    void finish(const Play& play) {
        play_verdicts(env, job, play);
        play_merges(env, job, play);
        REQUIRE(read_round(env.whole(), job, 0)->phase == RoundPhase::kSettled);
    }
    Reason verdict() { return read_slot(env.whole(), job, 0, 0)->verdict; }
    Reason audit(const std::string& name) { return line_of(env, job, 0, LineKind::kAudit, name).reason; }
    std::string third() {
        const auto verifiers = read_slot(env.whole(), job, 0, 0)->verifiers;
        REQUIRE(verifiers.size() == 3);
        return env.by_node(verifiers[2]).name;
    }
};

}  // namespace

TEST_CASE("when one of the pair is gone a third verifier decides") {
    for (const VerifierManner manner : {VerifierManner::kAbsent, VerifierManner::kSealsOnly}) {
        CAPTURE(static_cast<int>(manner));
        VerifierWorld w;
        const auto pair = w.play_to_audit();
        w.finish({.verifiers = {{pair[0], manner}}});
        CHECK(w.verdict() == Reason::kPaid);
        CHECK(w.audit(pair[0]) ==
              (manner == VerifierManner::kAbsent ? Reason::kAuditSilent : Reason::kAuditUnopened));
        CHECK(w.audit(pair[1]) == Reason::kPaidAudit);
        CHECK(w.audit(w.third()) == Reason::kPaidAudit);
    }
}

TEST_CASE("a lying verifier is outvoted, unpaid and penalised; the honest miner loses nothing") {
    VerifierWorld w;
    const auto pair = w.play_to_audit();
    const std::uint64_t stake = w.env.stake(pair[0]);
    w.finish({.verifiers = {{pair[0], VerifierManner::kLies}}});
    CHECK(w.verdict() == Reason::kPaid);
    CHECK(w.env.stake("m1") == kPlenty);
    CHECK(w.audit(pair[0]) == Reason::kAuditWrong);
    CHECK(w.env.stake(pair[0]) == stake - w.env.params().verifier_penalty.units());
    CHECK(line_of(w.env, w.job, 0, LineKind::kAudit, pair[0]).paid.is_zero());
}

TEST_CASE("a verifier that repeats what its miner told it is outvoted under a cheat, and penalised") {
    VerifierWorld w;
    const Play cheat = {.miners = {{"m1", MinerManner::kCheats}}};
    const auto pair = w.play_to_audit(cheat);
    Play play = cheat;
    play.verifiers = {{pair[1], VerifierManner::kColludes}};
    w.finish(play);
    CHECK(w.verdict() == Reason::kMismatch);
    CHECK(w.audit(pair[1]) == Reason::kAuditWrong);
    CHECK(w.audit(pair[0]) == Reason::kPaidAudit);
    // What it proved pays nobody who voted: its fee is all that it gets.
    const auto line = line_of(w.env, w.job, 0, LineKind::kAudit, pair[0]);
    CHECK(line.paid == audit_fee(w.env.params(), w.env.job(w.job).auction.clearing_price, line.work_units));
    CHECK(line_of(w.env, w.job, 0, LineKind::kSlot, "m1").lost_burned ==
          line_of(w.env, w.job, 0, LineKind::kSlot, "m1").lost);
}

TEST_CASE("a slot that no third verifier can settle is paid by default, and is no verified work") {
    VerifierWorld w({"v1", "v2"});
    w.play_to_audit();
    w.finish({.verifiers = {{"v1", VerifierManner::kLies}}});
    CHECK(w.verdict() == Reason::kPaidUndecided);
    CHECK(w.env.stake("m1") == kPlenty);
    CHECK(list_standing(w.env.state(), w.env.person("m1").node_key()).empty());
    CHECK(w.env.job(w.job).roster.front().speeds.empty());
    CHECK(w.audit("v1") == Reason::kAuditUndecided);
    CHECK(w.audit("v2") == Reason::kAuditUndecided);
    CHECK(w.env.stake("v1") == kPlenty);
    CHECK(read_round(w.env.whole(), w.job, 0)->merged_slots == std::vector<std::uint32_t>{0});
    CHECK(w.env.job(w.job).round == 1);
}

TEST_CASE("three roots that all differ decide nothing, and convict nobody") {
    VerifierWorld w;
    const Play cheat = {.miners = {{"m1", MinerManner::kCheats}}};
    w.play_to_audit(cheat);
    Play play = cheat;
    play.verifiers = {
        {"v1", VerifierManner::kLies}, {"v2", VerifierManner::kLies}, {"v3", VerifierManner::kLies}};
    w.finish(play);
    CHECK(w.verdict() == Reason::kPaidUndecided);
    CHECK(w.env.stake("m1") == kPlenty);
}

TEST_CASE("one accuser alone, where its partner and the third are silent, convicts nobody") {
    VerifierWorld w;
    const auto pair = w.play_to_audit();
    Play play = {.verifiers = {{"v1", VerifierManner::kAbsent},
                               {"v2", VerifierManner::kAbsent},
                               {"v3", VerifierManner::kAbsent}}};
    play.verifiers[pair[0]] = VerifierManner::kAccuses;
    w.finish(play);
    CHECK(w.verdict() == Reason::kPaidUndecided);
    CHECK(line_of(w.env, w.job, 0, LineKind::kSlot, "m1").lost.is_zero());
}

TEST_CASE("two colluding accusers do harm: what two equal roots can do is said, not hidden") {
    // The embedded form trusts that two drawn verifiers of different owners do not collude; the referee of
    // a later form decides by arithmetic instead.
    VerifierWorld w;
    const auto pair = w.play_to_audit();
    w.finish({.verifiers = {{pair[0], VerifierManner::kAccuses}, {pair[1], VerifierManner::kAccuses}}});
    CHECK(w.verdict() == Reason::kMismatch);
    // Neither they nor the buyer win by it.
    const auto line = line_of(w.env, w.job, 0, LineKind::kSlot, "m1");
    CHECK(line.lost_burned == line.lost);
    CHECK(line.lost_to_buyer.is_zero());
}

TEST_CASE("an audit must be drawn, sealed, opened as sealed, and over exactly the drawn units") {
    VerifierWorld w;
    const auto pair = w.play_to_audit();
    Person& first = w.env.person(pair[0]);
    Person& second = w.env.person(pair[1]);
    Person& outsider = w.env.person(pair[0] != "v1" && pair[1] != "v1"   ? "v1"
                                    : pair[0] != "v2" && pair[1] != "v2" ? "v2"
                                                                         : "v3");
    const Hash256 salt = bytes_of("salt");
    std::vector<SlotClaim> claims;
    for (const AssignedSlot& slot : assigned_slots(w.env.state(), w.job, 0, Stage::kPair, first.node_key())) {
        claims.push_back({slot.slot, false, {slot.units.size(), bytes_of("root")}});
    }
    REQUIRE(claims.size() == 1);
    REQUIRE(claims[0].roots.size() == 3);
    const auto seal = [&](const Person& who, const std::vector<SlotClaim>& c) {
        return AuditSeal{w.job, 0, Stage::kPair,
                         audit_seal(w.env.chain(), w.job, 0, Stage::kPair, who.node_key(), c, salt)};
    };
    w.env.refuse(Reason::kNotDrawn, outsider, seal(outsider, claims));
    w.env.refuse(Reason::kWrongPhase, first, AuditOpen{w.job, 0, Stage::kPair, claims, salt});
    w.env.send(first, seal(first, claims));
    w.env.refuse(Reason::kAlreadyDone, first, seal(first, claims));
    w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
    w.env.refuse(Reason::kNoSeal, second, AuditOpen{w.job, 0, Stage::kPair, claims, salt});
    w.env.refuse(Reason::kNotDrawn, outsider, AuditOpen{w.job, 0, Stage::kPair, claims, salt});
    const auto wrong = [&](const std::vector<SlotClaim>& other) {
        w.env.refuse(Reason::kWrongClaims, first, AuditOpen{w.job, 0, Stage::kPair, other, salt});
    };
    wrong({});
    std::vector<SlotClaim> changed = claims;
    changed[0].roots.pop_back();
    wrong(changed);
    changed = claims;
    changed[0].slot = 1;
    wrong(changed);
    changed = claims;
    changed[0].replayed = true;  // its run begins at the base: there is nothing to be served
    wrong(changed);
    changed = claims;
    changed[0].roots[0] = bytes_of("second thoughts");
    w.env.refuse(Reason::kSealMismatch, first, AuditOpen{w.job, 0, Stage::kPair, changed, salt});
    w.env.send(first, AuditOpen{w.job, 0, Stage::kPair, claims, salt});
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
