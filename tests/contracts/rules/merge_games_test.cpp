// SPDX-License-Identifier: Apache-2.0
// Games about merges: how long a merge can be challenged, who answers for one that is false, and what a claim
// that nobody can challenge is worth.
#include "tests/contracts/rules/merge_court.hpp"

namespace assay::contracts::test {

using dispute::UnitKind;

TEST_CASE("those who attested a merge that lost its game are called, and lose what they locked with it") {
    Params params = merges_with_games();
    params.commit_window = 40;  // nobody is missed in the round that follows while a game goes on
    MergeCourt w(params);
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
    std::map<std::string, MergeManner> all = kThreeConspire;
    all["v4"] = MergeManner::kConspires;
    w.merge(all);
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
