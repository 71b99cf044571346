// SPDX-License-Identifier: Apache-2.0
// Games about merges: how long a merge can be challenged, who answers for one that is false, and what a claim
// that nobody can challenge is worth.
#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/round/merge.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

using dispute::UnitKind;

constexpr std::uint64_t kMergeOpenFor = 40;

Params merges_with_games() {
    Params params = short_windows();
    params.claim_window = kMergeOpenFor;
    params.dispute_move_window = 6;
    return params;
}

/// Two miners and some verifiers in a job whose first round is about to be merged; m5 is enlisted for none.
struct MergeCourt {
    Env env;
    std::vector<std::string> verifiers;
    Hash256 job;

    explicit MergeCourt(Params params = merges_with_games(), JobSpec spec = small_job(),
                        std::vector<std::string> enlisted = {"v1", "v2", "v3", "v4"})
        : env(params), verifiers(std::move(enlisted)) {
        for (const char* miner : {"m1", "m2"}) env.miner(miner);
        for (const std::string& verifier : verifiers) env.verifier(verifier);
        env.verifier("m5");
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, verifiers);
        play_commits(env, job, {});
        play_links(env, job, {});
        play_verdicts(env, job, {});
        REQUIRE(env.round(job).phase == RoundPhase::kMergeSeal);
    }
    void merge(const std::map<std::string, MergeManner>& mergers) {
        play_merges(env, job, {.mergers = mergers});
        REQUIRE(settled().phase == RoundPhase::kSettled);
    }
    /// Each of them seals and opens this claim; the others post nothing.
    void merge(const std::map<std::string, MergeClaim>& claims) {
        const Hash256 salt = bytes_of("salt");
        for (const auto& [name, claim] : claims) {
            Person& who = env.person(name);
            env.send(who, MergeSeal{job, 0, merge_seal(env.chain(), job, 0, who.node_key(), claim, salt)});
        }
        if (claims.size() < verifiers.size()) env.advance_to(env.round(job).phase_deadline + 1);
        for (const auto& [name, claim] : claims) env.send(env.person(name), MergeOpen{job, 0, claim, salt});
        REQUIRE(settled().phase == RoundPhase::kSettled);
    }
    MergeClaim of_slots(const std::vector<std::uint32_t>& slots) { return merge_of(env.job(job), 0, slots); }
    MergeClaim not_finite(const std::vector<std::uint32_t>& slots) {
        return {.slots = of_slots(slots).slots};
    }
    Round settled() { return *read_round(env.whole(), job, 0); }
    SettlementLine line(const std::string& name) { return line_of(env, job, 0, LineKind::kMerge, name); }
    /// The merge claim of round 0 that is open.
    ClaimId name() {
        for (const auto& [id, claim] : list_claims(env.state(), job))
            if (id.kind == ClaimKind::kMerge && id.round == 0) return id;
        FAIL("no merge is open");
        std::abort();
    }
    DisputeOpen challenge(UnitKind unit = UnitKind::kMerge, std::uint32_t part = 0) {
        return {job, 0, ClaimKind::kMerge, name().number, unit, part};
    }
    Game game(std::uint32_t number) { return *read_game(env.whole(), job, number); }
    /// Of the unit that game 0 is about.
    std::vector<PublicKey> vouchers() { return vouchers_of(env.state(), name(), game(0).unit, game(0).part); }
    DisputeCall call(const PublicKey& verifier) { return {job, 0, game(0).unit, game(0).part, verifier}; }
    EnlistedVerifier enlisted(const PublicKey& node) {
        const Job record = env.job(job);
        for (const EnlistedVerifier& one : record.verifiers)
            if (one.node == node) return one;
        FAIL("nobody of this key is enlisted");
        std::abort();
    }
};

const std::map<std::string, MergeManner> kThreeConspire = {
    {"v1", MergeManner::kConspires}, {"v2", MergeManner::kConspires}, {"v3", MergeManner::kConspires}};

}  // namespace

TEST_CASE("those who attested a merge that lost its game are called, and lose what they locked with it") {
    MergeCourt w;
    w.merge(kThreeConspire);
    const PublicKey claimant = read_claim(w.env.state(), w.name())->node;
    w.env.send(w.env.person("v4"), w.challenge());
    CHECK(w.vouchers().size() == 2);
    w.env.send(w.env.by_node(claimant), DisputeConcede{w.job, 0});
    REQUIRE(w.game(0).claimant_lost);
    CHECK(w.enlisted(claimant).bond.is_zero());
    const auto vouchers = w.vouchers();
    REQUIRE(vouchers.size() == 2);
    w.env.refuse(Reason::kNotDrawn, w.env.person("v4"), w.call(claimant));
    w.env.refuse(Reason::kNotDrawn, w.env.person("v4"), w.call(w.env.person("v4").node_key()));
    w.env.refuse(Reason::kOwnClaim, w.env.by_node(vouchers[0]), w.call(vouchers[0]));
    for (const PublicKey& voucher : vouchers) w.env.send(w.env.person("v4"), w.call(voucher));
    w.env.refuse(Reason::kAlreadyDone, w.env.person("v4"), w.call(vouchers[0]));
    const std::uint64_t stake = w.env.stake("v4");
    // One says that it was wrong, the other says nothing: each loses all that it locked for the job.
    const Amount first = w.enlisted(vouchers[0]).locked;
    w.env.send(w.env.by_node(vouchers[0]), DisputeConcede{w.job, 1});
    w.env.advance_to(w.game(2).due);
    for (const std::uint32_t number : {1U, 2U}) {
        CHECK(w.game(number).called);
        CHECK(w.game(number).claimant_lost);
        CHECK(w.game(number).unit == UnitKind::kMerge);
        CHECK(w.enlisted(w.game(number).claimant).bond.is_zero());
        CHECK(w.enlisted(w.game(number).claimant).dropped);
    }
    CHECK(w.game(1).lost == first);
    CHECK(w.env.stake("v4") == stake);  // a call takes no bond
}

TEST_CASE("who was outvoted about a merge gets its penalty back when that merge has lost its game") {
    const bool by_itself = GENERATE(true, false);
    const bool conspires_in_vain = GENERATE(true, false);
    CAPTURE(by_itself, conspires_in_vain);
    MergeCourt w(merges_with_games(), small_job(), {"v1", "v2", "m3", "v3", "v4"});
    // v3 is outvoted, too, with the same words as v4 or with others.
    const MergeClaim truth = w.of_slots({0, 1});
    MergeClaim lie = truth;
    lie.base_root = base_named("wrong base of them all");
    MergeClaim other = truth;
    other.base_root = base_named("another wrong base");
    w.merge(
        {{"v1", lie}, {"v2", lie}, {"m3", lie}, {"v3", conspires_in_vain ? other : truth}, {"v4", truth}});
    REQUIRE(w.settled().result == lie);
    const Amount penalty = w.line("v4").lost;
    REQUIRE_FALSE(penalty.is_zero());
    const std::uint64_t third = w.env.balance("v3");
    const std::uint64_t fourth = w.env.balance("v4");
    w.env.send(w.env.person(by_itself ? "v4" : "m5"), w.challenge());
    w.env.send(w.env.by_node(w.game(0).claimant), DisputeConcede{w.job, 0});
    const bool both = !by_itself || !conspires_in_vain;
    const Game game = w.game(0);
    CHECK(game.to_outvoted == (both ? sum(penalty, penalty) : penalty));
    CHECK(w.env.balance("v3") == third + (both ? penalty.units() : 0));
    CHECK(w.env.balance("v4") == fourth + penalty.units() + (by_itself ? game.to_winner.units() : 0));
    CHECK(sum(sum(game.to_winner, game.to_buyer), game.to_outvoted) < game.lost);
    // Whoever attested it and is called gives back nothing that was given back.
    const auto vouchers = w.vouchers();
    REQUIRE(vouchers.size() == 2);
    w.env.send(w.env.person(by_itself ? "v4" : "m5"), w.call(vouchers[0]));
    w.env.send(w.env.by_node(vouchers[0]), DisputeConcede{w.job, 1});
    CHECK(w.game(1).claimant_lost);
    CHECK(w.game(1).to_outvoted.is_zero());
}

TEST_CASE("who attested a merge is called about the clip that was rejected as well") {
    JobSpec spec = small_job();
    spec.train.max_update_norm = 2.0F;
    MergeCourt w(merges_with_games(), spec);
    MergeClaim clipped = w.of_slots({0, 1});
    clipped.clips[1] = 17;
    const MergeClaim right = w.of_slots({0, 1});
    w.merge({{"v1", clipped}, {"v2", clipped}, {"v3", clipped}, {"v4", right}});
    w.env.refuse(Reason::kNoSuchUnit, w.env.person("v4"), w.challenge(UnitKind::kClip, 2));
    w.env.send(w.env.person("v4"), w.challenge(UnitKind::kClip, 1));
    CHECK(read_game_pieces(w.env.state(), w.job, 0)->unit.clips == std::vector<std::uint32_t>{17});
    w.env.send(w.env.by_node(w.game(0).claimant), DisputeConcede{w.job, 0});
    const auto vouchers = w.vouchers();
    REQUIRE(vouchers.size() == 2);
    w.env.send(w.env.person("v4"), w.call(vouchers[1]));
    CHECK(w.game(1).unit == UnitKind::kClip);
    CHECK(w.game(1).part == 1);
}

TEST_CASE("a merge with a clip that none can be is malformed, and its verifier has opened nothing") {
    JobSpec spec = small_job();
    spec.train.max_update_norm = 2.0F;
    for (const std::uint32_t clip : {65'537U, UINT32_MAX}) {
        MergeCourt w(merges_with_games(), spec);
        const Hash256 salt = bytes_of("salt");
        MergeClaim claim = w.of_slots({0, 1});
        claim.clips[1] = clip;
        for (const char* const name : {"v1", "v2", "v3", "v4"}) {
            Person& who = w.env.person(name);
            const MergeClaim& own = name == std::string("v1") ? claim : w.of_slots({0, 1});
            w.env.send(who,
                       MergeSeal{w.job, 0, merge_seal(w.env.chain(), w.job, 0, who.node_key(), own, salt)});
        }
        w.env.refuse(Reason::kMalformed, w.env.person("v1"), MergeOpen{w.job, 0, claim, salt});
        claim.clips[1] = 65'536;
        w.env.refuse(Reason::kSealMismatch, w.env.person("v1"), MergeOpen{w.job, 0, claim, salt});
    }
}

TEST_CASE("a merge that is paid nothing stays open for its window like every other") {
    Params params = merges_with_games();
    params.merge_fee_ppm = 0;
    MergeCourt w(params);
    w.merge(kThreeConspire);
    const std::uint64_t settled = w.settled().settled_at;
    REQUIRE(line_of(w.env, w.job, 0, LineKind::kMerge,
                    w.env.by_node(read_claim(w.env.state(), w.name())->node).name)
                .reason == Reason::kPaidMerge);
    CHECK(read_claim(w.env.state(), w.name())->held.is_zero());
    w.env.advance_to(settled + kMergeOpenFor - 1);
    w.env.send(w.env.person("m5"), w.challenge());
    const ClaimId name = w.name();
    w.env.send(w.env.by_node(w.game(0).claimant), DisputeConcede{w.job, 0});
    CHECK(w.game(0).claimant_lost);
    CHECK_FALSE(w.game(0).lost.is_zero());
    CHECK(read_claim(w.env.state(), name)->dead);
}

TEST_CASE("a claim that the state is not finite counts against none that a game could be about") {
    MergeCourt w;
    // One says so of more slots than the others merged: they need nothing from it.
    w.merge({{"v1", w.of_slots({0})},
             {"v2", w.of_slots({0})},
             {"v3", w.of_slots({0})},
             {"v4", w.not_finite({0, 1})}});
    CHECK(w.settled().merged);
    CHECK(w.settled().merged_slots == std::vector<std::uint32_t>{0});
    CHECK(w.line("v4").reason == Reason::kMergeUndecided);
    CHECK(w.line("v4").lost.is_zero());
}

TEST_CASE("a majority that says so of fewer slots than one merged ends no job") {
    MergeCourt w;
    w.merge({{"v1", w.not_finite({0})},
             {"v2", w.not_finite({0})},
             {"v3", w.not_finite({0})},
             {"v4", w.of_slots({0, 1})}});
    CHECK(w.line("v1").reason == Reason::kMergeFewerSlots);
    CHECK(w.line("v4").reason == Reason::kMergeUndecided);
    CHECK(w.env.job(w.job).end_reason == Reason::kNone);
}

TEST_CASE("against a standing claim that nobody can challenge no other word is shown wrong") {
    MergeCourt w;
    w.merge({{"v1", w.not_finite({0, 1})},
             {"v2", w.not_finite({0, 1})},
             {"v3", w.not_finite({0, 1})},
             {"v4", w.of_slots({0, 1})}});
    CHECK(w.env.job(w.job).end_reason == Reason::kMergeDiverged);
    CHECK(w.line("v4").reason == Reason::kMergeUndecided);
    CHECK(w.line("v4").lost.is_zero());
    w.env.refuse(Reason::kNoSuchUnit, w.env.person("m5"), w.challenge());
}

}  // namespace assay::contracts::test
