// SPDX-License-Identifier: Apache-2.0
// Merge claims: which one stands, who is paid for it, and what becomes of a round in which none does.
#include "contracts/rules/round/merge.hpp"

#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const std::vector<std::string> kThree = {"v1", "v2", "v3"};

struct MergeWorld {
    Env env;
    Hash256 job;

    explicit MergeWorld(const std::vector<std::string>& verifiers = kThree, JobSpec spec = small_job()) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const std::string& name : verifiers) env.verifier(name);
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, verifiers);
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
    }
    void play_to_merge() {
        play_commits(env, job, {});
        play_links(env, job, {});
        play_verdicts(env, job, {});
        REQUIRE(env.round(job).phase == RoundPhase::kMergeSeal);
    }
    Round settled(std::uint32_t round = 0) {
        Round record = *read_round(env.whole(), job, round);
        REQUIRE(record.phase == RoundPhase::kSettled);
        return record;
    }
    Reason merge(const std::string& name, std::uint32_t round = 0) {
        return line_of(env, job, round, LineKind::kMerge, name).reason;
    }
    MergeSeal sealed(const Person& who, const MergeClaim& claim) {
        return {job, 0, merge_seal(env.chain(), job, 0, who.node_key(), claim, bytes_of("salt"))};
    }
    MergeOpen opened(const MergeClaim& claim) { return {job, 0, claim, bytes_of("salt")}; }
};

}  // namespace

TEST_CASE("the claim with the most slots stands: a censored merge loses, and loses nothing else") {
    MergeWorld w;
    const std::uint64_t stake = w.env.stake("v1");
    play_round(w.env, w.job, {.mergers = {{"v1", MergeManner::kCensors}}});
    CHECK(w.settled().merged_slots == std::vector<std::uint32_t>{0, 1});
    CHECK(w.merge("v1") == Reason::kMergeFewerSlots);
    CHECK(w.env.stake("v1") == stake);
    CHECK(w.env.job(w.job).verifiers[0].missed == 0);
}

TEST_CASE("one honest merger keeps a majority of censors from leaving a slot out") {
    MergeWorld w;
    play_round(w.env, w.job, {.mergers = {{"v1", MergeManner::kCensors}, {"v2", MergeManner::kCensors}}});
    const Round round = w.settled();
    CHECK_FALSE(round.merged);
    CHECK(round.merged_slots.empty());
    CHECK(w.merge("v1") == Reason::kMergeFewerSlots);
    CHECK(w.merge("v3") == Reason::kMergeUndecided);
    for (const char* name : {"m1", "m2"})
        CHECK(line_of(w.env, w.job, 0, LineKind::kSlot, name).reason == Reason::kPaid);
    CHECK(w.env.job(w.job).base_root == w.env.job(w.job).spec.initial_root);
}

TEST_CASE("of equal claims the first that was opened is paid, the others' bonds come back") {
    MergeWorld w;
    w.play_to_merge();
    const Job job = w.env.job(w.job);
    const MergeClaim claim = true_merge(w.env.state(), job, 0);
    for (const std::string& name : kThree)
        w.env.send(w.env.person(name), w.sealed(w.env.person(name), claim));
    for (const char* name : {"v3", "v1", "v2"}) w.env.send(w.env.person(name), w.opened(claim));
    CHECK(w.settled().result == claim);
    CHECK(w.merge("v3") == Reason::kPaidMerge);
    CHECK(w.merge("v1") == Reason::kMergeAttested);
    CHECK(w.merge("v2") == Reason::kMergeAttested);
    const auto fee = merge_fee(params_of(w.env.state(), job), job.auction.clearing_price, job.slot_work);
    CHECK(line_of(w.env, w.job, 0, LineKind::kMerge, "v3").from_escrow == fee);
    CHECK(line_of(w.env, w.job, 0, LineKind::kMerge, "v1").paid.is_zero());
    for (const EnlistedVerifier& verifier : w.env.job(w.job).verifiers) {
        CHECK(verifier.bond == verifier.locked);
        CHECK(verifier.missed == 0);
    }
}

TEST_CASE("a judge that leaves every second merge out is dropped: it has all others wait for the window") {
    JobSpec spec = small_job();
    spec.rounds = 12;
    MergeWorld w(kThree, spec);
    std::uint32_t round = 0;
    const auto judge = [&] { return w.env.job(w.job).verifiers[2]; };
    for (; round < 12 && !judge().dropped; ++round) {
        const bool away = round % 2 == 0;
        play_round(w.env, w.job, {.mergers = {{"v3", away ? MergeManner::kAbsent : MergeManner::kHonest}}});
    }
    CHECK(judge().dropped);
    CHECK(round == 5);
    CHECK_FALSE(w.env.job(w.job).verifiers[0].dropped);
}

TEST_CASE("a liar with the whole set accuses the merge that stands: the settlement takes nothing of it") {
    MergeWorld w;
    const std::uint64_t stake = w.env.stake("v2");
    play_round(w.env, w.job, {.mergers = {{"v2", MergeManner::kLies}}});
    CHECK(w.settled().merged);
    CHECK(w.merge("v2") == Reason::kMergeAccuses);
    CHECK(w.env.stake("v2") == stake);
    CHECK(w.env.job(w.job).verifiers[1].missed == 0);
}

TEST_CASE("a liar alone puts no state in, whoever else is silent or censors") {
    for (const MergeManner others : {MergeManner::kAbsent, MergeManner::kCensors, MergeManner::kSealsOnly}) {
        CAPTURE(static_cast<int>(others));
        MergeWorld w;
        play_round(w.env, w.job, {.mergers = {{"v1", MergeManner::kLies}, {"v2", others}, {"v3", others}}});
        CHECK_FALSE(w.settled().merged);
        CHECK(w.merge("v1") == Reason::kMergeUndecided);
        CHECK(w.env.job(w.job).base_root == w.env.job(w.job).spec.initial_root);
    }
}

TEST_CASE("more than half of the locked stake must attest a state: half is not enough") {
    MergeWorld w({"v1", "v2"});
    play_round(w.env, w.job, {.mergers = {{"v2", MergeManner::kAbsent}}});
    CHECK_FALSE(w.settled().merged);
    CHECK(w.merge("v1") == Reason::kMergeUndecided);
    CHECK(w.merge("v2") == Reason::kMergeSilent);
}

TEST_CASE("a majority that agrees on a false state puts it in: what attestation alone cannot stop") {
    MergeWorld w;
    play_round(w.env, w.job, {.mergers = {{"v1", MergeManner::kConspires}, {"v2", MergeManner::kConspires}}});
    CHECK(w.settled().result.base_root == base_named("wrong base of them all"));
    // Arithmetic, not attestation, decides: it waits for v3's game.
    CHECK(w.merge("v3") == Reason::kMergeAccuses);
}

TEST_CASE("without a majority the state stays, counters advance, slots are paid, no merge is") {
    MergeWorld w;
    const Play none = {.mergers = {{"v1", MergeManner::kLies}, {"v2", MergeManner::kLies}}};
    play_round(w.env, w.job, none);
    Job job = w.env.job(w.job);
    CHECK(job.phase == JobPhase::kRounds);
    CHECK(job.round == 1);
    CHECK(job.rounds_done == 0);
    CHECK(job.base_root == job.spec.initial_root);
    CHECK(w.env.round(w.job).base_root == job.spec.initial_root);
    for (const SettlementLine& line : list_settlement(w.env.whole(), w.job, 0)) {
        if (line.kind == LineKind::kSlot) CHECK(line.reason == Reason::kPaid);
        if (line.kind == LineKind::kMerge) CHECK((line.paid.is_zero() && line.lost.is_zero()));
    }
    SECTION("a merge in the next round goes on from it") {
        play_round(w.env, w.job);
        job = w.env.job(w.job);
        CHECK(job.rounds_done == 1);
        CHECK(job.base_root == w.settled(1).result.base_root);
        play_round(w.env, w.job, none);
        CHECK(w.env.job(w.job).end_reason != Reason::kMergeUnresolved);
    }
    SECTION("a second one in a row ends the job") {
        play_round(w.env, w.job, none);
        play_job(w.env, w.job);  // the windows
        job = w.env.job(w.job);
        CHECK(job.end_reason == Reason::kMergeUnresolved);
        CHECK(line_of(w.env, w.job, 1, LineKind::kSlot, "m1").reason == Reason::kPaid);
        CHECK(job.spent.units() + job.refunded.units() == job.spec.market.budget.units());
    }
}

TEST_CASE("with zero slots nobody merges, and two such rounds end the job") {
    MergeWorld w;
    const Play lost = {.lost_updates = {0, 1}};
    play_round(w.env, w.job, lost);
    CHECK_FALSE(w.settled().merged);
    CHECK(w.settled().merges.empty());
    CHECK(w.env.job(w.job).phase == JobPhase::kRounds);
    play_round(w.env, w.job, lost);
    CHECK(w.env.job(w.job).end_reason == Reason::kMergeUnresolved);
}

TEST_CASE("who posts no merge in rounds in a row is dropped, and keeps the others from nothing") {
    MergeWorld w;
    JobSpec spec = small_job();
    const Play play = {.mergers = {{"v3", MergeManner::kAbsent}}};
    for (std::uint32_t i = 0; i < w.env.params().max_missed; ++i) {
        play_round(w.env, w.job, play);
        CHECK(w.settled(i).merged);
    }
    CHECK(w.env.job(w.job).verifiers[2].dropped);
}

TEST_CASE("a merge names what may be merged, in one form, and is opened by whoever sealed it") {
    MergeWorld w;
    play_commits(w.env, w.job, {});
    play_links(w.env, w.job, {});
    play_verdicts(w.env, w.job, {.lost_updates = {1}});
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kMergeSeal);
    const Job job = w.env.job(w.job);
    REQUIRE(merge_slots(w.env.state(), w.job, 0) == std::vector<std::uint32_t>{0});
    const MergeClaim right = merge_of(job, 0, {0});
    Person& v1 = w.env.person("v1");
    Person& v2 = w.env.person("v2");
    Person& v3 = w.env.person("v3");
    w.env.refuse(Reason::kWrongPhase, v1, w.opened(right));
    w.env.refuse(Reason::kNotParticipant, w.env.person("m1"), w.sealed(w.env.person("m1"), right));
    w.env.send(v1, w.sealed(v1, right));
    w.env.refuse(Reason::kAlreadyDone, v1, w.sealed(v1, right));
    // v2 copies the seal of v1: it names its author.
    w.env.send(v2, w.sealed(v1, right));
    w.env.send(v3, w.sealed(v3, merge_of(job, 0, {0, 1})));
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kMergeOpen);
    w.env.send(v1, w.opened(right));
    w.env.refuse(Reason::kSealMismatch, v2, w.opened(right));
    w.env.refuse(Reason::kBadMerge, v3, w.opened(merge_of(job, 0, {0, 1})));  // not stored
    const auto bad = [&](MergeClaim claim) {
        w.env.refuse(Reason::kBadMerge, v3, w.opened(std::move(claim)));
    };
    bad(merge_of(job, 0, {}));
    MergeClaim changed = right;
    changed.slots.push_back(0);
    bad(changed);
    changed = right;
    changed.slots = {};
    bad(changed);
    changed = right;
    changed.slots = {0x81};
    bad(changed);
    changed = right;
    changed.clips = {1U << 16};  // this job has no norm bound
    bad(changed);
    w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
    CHECK(w.merge("v1") == Reason::kMergeUndecided);
    CHECK(w.merge("v2") == Reason::kMergeUnopened);
    CHECK(w.merge("v3") == Reason::kMergeUnopened);
}

TEST_CASE(
    "where the job has a norm bound a claim has a clip for each slot, and other clips are another claim") {
    JobSpec spec = small_job();
    spec.train.max_update_norm = 2.0F;
    MergeWorld w(kThree, spec);
    w.play_to_merge();
    const MergeClaim right = true_merge(w.env.state(), w.env.job(w.job), 0);
    MergeClaim other = right;
    other.clips[0] = 17;
    MergeClaim none = right;
    none.clips.clear();
    Person& v1 = w.env.person("v1");
    w.env.send(v1, w.sealed(v1, other));
    for (const char* name : {"v2", "v3"}) w.env.send(w.env.person(name), w.sealed(w.env.person(name), right));
    w.env.refuse(Reason::kBadMerge, v1, w.opened(none));
    w.env.send(v1, w.opened(other));
    for (const char* name : {"v2", "v3"}) w.env.send(w.env.person(name), w.opened(right));
    CHECK(w.settled().result == right);
    CHECK(w.merge("v1") == Reason::kMergeAccuses);
}

}  // namespace assay::contracts::test
