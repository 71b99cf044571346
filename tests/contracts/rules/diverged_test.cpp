// SPDX-License-Identifier: Apache-2.0
// What is no longer finite: a slot's training, and the merged state itself.
#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

struct DivergedWorld {
    Env env;
    Hash256 job;

    explicit DivergedWorld(JobSpec spec = small_job(), Params params = short_windows()) : env(params) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
    }
    void play_to_merge() {
        play_commits(env, job, {});
        play_links(env, job, {});
        play_verdicts(env, job, {});
        REQUIRE(env.round(job).phase == RoundPhase::kMergeSeal);
    }
    std::vector<std::string> mergers() {
        std::vector<std::string> names;
        for (const MergePosting& posting : env.round(job).merges)
            names.push_back(env.by_node(posting.verifier).name);
        return names;
    }
    MergeOpen opening(Person& who, const MergeClaim& claim) {
        const Hash256 salt = bytes_of("salt");
        env.send(who, MergeSeal{job, 0, merge_seal(env.chain(), job, 0, who.node_key(), claim, salt)});
        return {job, 0, claim, salt};
    }
};

const Play kAllDiverged = {.mergers = {{"v1", MergeManner::kDiverged},
                                       {"v2", MergeManner::kDiverged},
                                       {"v3", MergeManner::kDiverged}}};

}  // namespace

TEST_CASE("a merged state that is not finite ends the job: slots and mergers are paid, the rest goes back") {
    DivergedWorld w;
    play_round(w.env, w.job, kAllDiverged);
    play_job(w.env, w.job);  // the windows
    const Job job = w.env.job(w.job);
    CHECK(job.phase == JobPhase::kEnded);
    CHECK(job.end_reason == Reason::kMergeDiverged);
    CHECK(job.rounds_done == 0);
    CHECK(job.base_root == job.spec.initial_root);
    CHECK(job.escrow.is_zero());
    CHECK(job.spent.units() + job.refunded.units() == job.spec.market.budget.units());
    for (const char* name : {"m1", "m2"}) {
        const auto line = line_of(w.env, w.job, 0, LineKind::kSlot, name);
        CHECK(line.reason == Reason::kPaid);
        CHECK(line.paid.units() == job.slot_work * job.auction.clearing_price.units());
        CHECK(w.env.stake(name) == kPlenty);
    }
    const Round round = *read_round(w.env.whole(), w.job, 0);
    CHECK_FALSE(round.merged);
    CHECK(round.merged_slots.empty());
    REQUIRE(round.merges.size() == 3);
    for (const MergePosting& posting : round.merges) {
        const auto line = line_of(w.env, w.job, 0, LineKind::kMerge, w.env.by_node(posting.verifier).name);
        CHECK(line.reason == (posting.order == 0 ? Reason::kPaidMerge : Reason::kMergeAttested));
        CHECK(line.paid.is_zero() == (posting.order != 0));
    }
}

TEST_CASE("a merger that alone says diverged, or alone denies it, is not paid, and loses nothing") {
    for (const bool truly : {false, true}) {
        CAPTURE(truly);
        DivergedWorld w;
        w.play_to_merge();
        const std::string odd = w.mergers().front();
        Play play = truly ? kAllDiverged : Play{};
        play.mergers[odd] = truly ? MergeManner::kHonest : MergeManner::kDiverged;
        play_merges(w.env, w.job, play);
        CHECK(read_round(w.env.whole(), w.job, 0)->merged != truly);
        CHECK(w.env.job(w.job).end_reason == (truly ? Reason::kMergeDiverged : Reason::kNone));
        const auto line = line_of(w.env, w.job, 0, LineKind::kMerge, odd);
        CHECK(line.reason == Reason::kMergeUndecided);
        CHECK((line.paid.is_zero() && line.lost.is_zero()));
    }
}

TEST_CASE("a diverged merge has one spelling: with a blob or a loss beside it, it is malformed") {
    DivergedWorld w;
    w.play_to_merge();
    const auto names = w.mergers();
    Person& first = w.env.person(names[0]);
    Person& second = w.env.person(names[1]);
    const MergeOpen with_loss = w.opening(first, {.slots = {3}, .held_out_loss = 110});
    const MergeOpen with_blob = w.opening(second, {.slots = {3}, .base_blob = bytes_of("blob")});
    (void)w.opening(w.env.person(names[2]), {.slots = {3}, .clips = {1}});
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kMergeOpen);
    w.env.refuse(Reason::kMalformed, first, with_loss);
    w.env.refuse(Reason::kMalformed, second, with_blob);
    MergeOpen with_both = with_loss;
    with_both.claim = {.slots = {3}, .clips = {1}, .base_blob = bytes_of("blob"), .held_out_loss = 100};
    w.env.refuse(Reason::kMalformed, first, with_both);
    // The one spelling is well formed, but not what was sealed.
    MergeOpen plain = with_loss;
    plain.claim = {.slots = {3}};
    w.env.refuse(Reason::kSealMismatch, first, plain);
}

TEST_CASE("the unit of a claimed divergence is always drawn, and none behind it") {
    JobSpec spec = small_job();
    spec.seed = kDivergingSeed;  // slot 0, step 3: unit 1 of 0, 1 and finalise
    spec.security.audit_threshold = UINT64_MAX / 10'000;
    Params params = short_windows();
    params.probation_rounds = 0;
    DivergedWorld w(spec, params);
    play_commits(w.env, w.job, {});
    play_links(w.env, w.job, {});
    CHECK(read_slot(w.env.whole(), w.job, 0, 0)->drawn_units == std::vector<std::uint32_t>{2});
    play_serves(w.env, w.job, {});
    // Nothing is computed behind a divergence: `finalise` is no unit of this slot any more.
    const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, 0);
    CHECK(slot.drawn_units == std::vector<std::uint32_t>{1});
    CHECK(slot.diverged_unit == 1);
    CHECK(read_slot(w.env.whole(), w.job, 0, 1)->drawn_units == std::vector<std::uint32_t>{2});
    const auto slots = assigned_slots(w.env.state(), w.job, 0, Stage::kPanel, slot.verifiers[0]);
    REQUIRE_FALSE(slots.empty());
    CHECK(slots[0].units == std::vector<std::uint32_t>{1});
    play_verdicts(w.env, w.job, {});
    play_merges(w.env, w.job, {});
    CHECK(read_slot(w.env.whole(), w.job, 0, 0)->verdict == Reason::kPaidDiverged);
}

TEST_CASE("a divergence claimed falsely is found however low the rate, and a drawn unit is not drawn twice") {
    Params params = short_windows();
    params.probation_rounds = 0;
    for (const std::uint64_t threshold : {UINT64_MAX / 10'000, UINT64_MAX}) {
        JobSpec spec = small_job();
        spec.security.audit_threshold = threshold;
        DivergedWorld w(spec, params);
        const Play play = {.miners = {{"m2", MinerManner::kFeignsDivergence}}};
        const std::uint32_t number = slot_of(w.env, w.job, "m2");
        play_round(w.env, w.job, play);
        const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, number);
        // Diverged at step 0, they say: no work at all for a whole slot's pay.
        CHECK(slot.drawn_units == std::vector<std::uint32_t>{0});
        CHECK(slot.verdict == Reason::kPaidAccused);
        CHECK(slot.fault_unit == 0);
        CHECK_FALSE(read_claim(w.env.state(), {w.job, 0, ClaimKind::kSlot, number})->accusations.empty());
    }
}

TEST_CASE("a trace ends where its miner said when it served, or is not opened at all") {
    Params params = short_windows();
    params.probation_rounds = 0;
    JobSpec spec = small_job();
    spec.security.audit_threshold = UINT64_MAX / 10'000;
    DivergedWorld w(spec, params);
    const Play play = {.miners = {{"m2", MinerManner::kFeignsDivergence}}};
    const std::uint32_t number = slot_of(w.env, w.job, "m2");
    const TraceRecord feigned = claimed_trace(w.env.job(w.job), 0, number, MinerManner::kFeignsDivergence);
    play_commits(w.env, w.job, play);
    play_links(w.env, w.job, play);
    RoundServe serve = serve_of(w.env, w.job, number, feigned);
    serve.diverged_unit = 3;  // there is none
    w.env.refuse(Reason::kBadOpening, w.env.person("m2"), serve);
    serve = serve_of(w.env, w.job, number, true_trace(w.env.job(w.job), 0, number));
    serve.trace_root = program::trace_root(feigned, spec, slot_salt());
    serve.starts[0].start =
        program::open_leaf(feigned, spec, slot_salt(), program::TraceLeafKind::kFinaliseInput, 0);
    w.env.send(w.env.person("m2"), serve);  // says nothing of a divergence
    w.env.send(w.env.person("m1"),
               serve_of(w.env, w.job, 1 - number, true_trace(w.env.job(w.job), 0, 1 - number)));
    play_panel(w.env, w.job, {});
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kReveal);
    w.env.refuse(Reason::kBadTrace, w.env.person("m2"), reveal_of(w.env, w.job, number, feigned));
}

TEST_CASE("a divergence that nobody recomputed is not paid, nor is its claim a loss") {
    JobSpec spec = small_job();
    spec.seed = kDivergingSeed;
    DivergedWorld w(spec);
    play_round(w.env, w.job,
               {.verifiers = {{"v1", VerifierManner::kAbsent},
                              {"v2", VerifierManner::kAbsent},
                              {"v3", VerifierManner::kAbsent}}});
    const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, 0);
    CHECK(slot.verdict == Reason::kUnresolved);
    CHECK(w.env.stake(w.env.by_node(slot.miner).name) == kPlenty);
    CHECK(read_slot(w.env.whole(), w.job, 0, 1)->verdict == Reason::kPaidUndecided);
}

}  // namespace assay::contracts::test
