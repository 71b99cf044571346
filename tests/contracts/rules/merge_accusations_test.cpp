// SPDX-License-Identifier: Apache-2.0
// Who merged the same slots to another state than the one that stands accuses it: the settlement takes
// nothing, and a game without a bond decides which of the two loses.
#include <algorithm>

#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/merge_court.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

using dispute::UnitKind;

/// Of the merge of round 0, with what its accusers can lose.
struct AccusedMerge : MergeCourt {
    using MergeCourt::MergeCourt;
    Claim claim() { return *read_claim(env.state(), name()); }
    Amount stake_of_accusation() {
        const Job record = env.job(job);
        return accusation_stake(env.params(), record.auction.clearing_price, record.slot_work).value();
    }
    Amount bond_of(const std::string& verifier) { return enlisted(env.person(verifier).node_key()).bond; }
    std::uint64_t free_of(const std::string& verifier) {
        return read_stake(env.state(), env.person(verifier).node_key()).free.units();
    }
    std::size_t games() { return list_games(env.whole(), job).size(); }
    std::string claimant() { return env.by_node(claim().node).name; }
};

const std::map<std::string, MergeManner> kOneLies = {{"v2", MergeManner::kLies}};

}  // namespace

TEST_CASE("who merged the same slots to another state accuses the merge that stands, and loses nothing yet") {
    AccusedMerge w;
    const std::uint64_t stake = w.env.stake("v4");
    w.merge(kThreeConspire);
    const SettlementLine line = w.line("v4");
    CHECK(line.reason == Reason::kMergeAccuses);
    CHECK((line.paid.is_zero() && line.lost.is_zero()));
    CHECK(w.env.stake("v4") == stake);
    CHECK(w.bond_of("v4") == w.enlisted(w.env.person("v4").node_key()).locked);
    const Claim claim = w.claim();
    REQUIRE(claim.accusations.size() == 1);
    const Accusation& accusation = claim.accusations[0];
    CHECK(accusation.verifier == w.env.person("v4").node_key());
    CHECK(accusation.found == w.of_slots({0, 1}).base_root);
    CHECK((accusation.unit == 0 && accusation.fee.is_zero() && !accusation.used && !accusation.lost));
    CHECK(claim.accuse_by > w.settled().settled_at);
    CHECK(list_due_in_games(w.env.state(), w.job, claim.accuse_by).accused == std::vector{w.name()});
    CHECK(claim.kept_out.is_zero());
}

TEST_CASE("one honest verifier against a majority plays without a bond, wins, and calls all of it") {
    AccusedMerge w;
    w.merge(kThreeConspire);
    const std::string claimant = w.claimant();
    const Amount fee = w.claim().held;
    const Amount locked = w.bond_of(claimant);
    const std::uint64_t free = w.free_of("v4");
    const std::uint64_t balance = w.env.balance("v4");
    w.env.send(w.env.person("v4"), w.challenge());
    CHECK((w.game(0).accuses && w.game(0).bond.is_zero()));
    CHECK(w.free_of("v4") == free);
    CHECK(w.claim().accuse_by == 0);
    // A second game is anybody's.
    w.env.send(w.env.person("v4"), w.challenge());
    CHECK((!w.game(1).accuses && !w.game(1).bond.is_zero()));
    w.env.advance_to(w.game(0).due);
    const Game game = w.game(0);
    CHECK((game.claimant_lost && game.end == GameEnd::kSilent));
    CHECK(game.lost == locked);
    CHECK(game.to_winner == game.cost);
    CHECK(game.fees.is_zero());
    CHECK(game.returned == fee);
    CHECK(w.env.balance("v4") == balance + game.to_winner.units());
    CHECK(w.bond_of("v4") == w.enlisted(w.env.person("v4").node_key()).locked);
    CHECK((w.claim().dead && w.claim().accusations.empty()));
    const auto vouchers = w.vouchers();
    REQUIRE(vouchers.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t number = w.games();
        w.env.send(w.env.person("v4"), w.call(vouchers[i]));
        w.env.send(w.env.by_node(vouchers[i]), DisputeConcede{w.job, static_cast<std::uint32_t>(number)});
    }
    for (const char* liar : {"v1", "v2", "v3"}) CHECK(w.bond_of(liar).is_zero());
}

TEST_CASE(
    "an accuser plays against a verifier of its own owner as well, which nobody else may challenge there") {
    AccusedMerge w(merges_with_games(), small_job(), {"v1", "v2", "v3", "v4"}, "v1");
    w.merge(kThreeConspire);
    REQUIRE(w.claimant() == "v1");
    REQUIRE(w.line("v4").reason == Reason::kMergeAccuses);
    w.env.refuse(Reason::kOwnClaim, w.env.person("v1"), w.challenge());
    const Amount locked = w.bond_of("v4");
    w.env.send(w.env.person("v4"), w.challenge());
    w.env.advance_to(w.game(0).due);
    CHECK((w.game(0).claimant_lost && w.bond_of("v1").is_zero()));
    CHECK(w.bond_of("v4") == locked);
}

TEST_CASE("a false merger that opens no game has lost it at the last height, and the merge is paid") {
    AccusedMerge w;
    w.merge(kOneLies);
    CHECK(w.line("v2").reason == Reason::kMergeAccuses);
    const std::string claimant = w.claimant();
    const Amount locked = w.bond_of("v2");
    const std::uint64_t due = w.claim().accuse_by;
    const std::uint64_t balance = w.env.balance(claimant);
    w.env.advance_to(due - 1);
    CHECK(w.games() == 0);
    CHECK(w.bond_of("v2") == locked);
    w.env.advance_to(due);
    REQUIRE(w.games() == 1);
    const Game game = w.game(0);
    CHECK((game.accuses && !game.claimant_lost && game.end == GameEnd::kSilent && game.moves == 0));
    CHECK((game.kind == ClaimKind::kMerge && game.unit == UnitKind::kMerge));
    CHECK(game.lost == std::min(w.stake_of_accusation(), locked));
    CHECK((game.to_buyer.is_zero() && game.to_winner == std::min(game.cost, game.lost)));
    CHECK(w.bond_of("v2") == difference(locked, game.lost));
    CHECK(w.env.balance(claimant) == balance + game.to_winner.units());
    CHECK(list_accused(w.env.state(), w.job).empty());
    const Claim claim = w.claim();
    CHECK((!claim.dead && claim.accuse_by == 0 && claim.accusations[0].lost));
    const ClaimId name = w.name();
    while (read_claim(w.env.state(), name)) w.env.next_block();
    CHECK(w.env.balance(claimant) == balance + game.to_winner.units() + claim.held.units());
}

TEST_CASE("a false merger that opens its game in the last block for it and loses pays the same") {
    AccusedMerge w;
    w.merge(kOneLies);
    const Amount locked = w.bond_of("v2");
    w.env.advance_to(w.claim().accuse_by - 1);
    w.env.send(w.env.person("v2"), w.challenge());
    CHECK((w.game(0).accuses && w.claim().accuse_by == 0));
    w.env.send(w.env.person("v2"), DisputeConcede{w.job, 0});
    CHECK(w.game(0).lost == std::min(w.stake_of_accusation(), locked));
    CHECK(w.bond_of("v2") == difference(locked, w.game(0).lost));
    CHECK_FALSE(w.claim().dead);
    // Of a slot whose number is the claim's nothing is cleared.
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0)) CHECK_FALSE(slot.cleared);
}

TEST_CASE(
    "when the claim dies in a friend's game, conceded first, an accuser without a game loses nothing, and "
    "may call") {
    AccusedMerge w;
    w.merge(kThreeConspire);
    const std::uint64_t due = w.claim().accuse_by;
    const Amount locked = w.bond_of("v4");
    w.env.send(w.env.person("m5"), w.challenge());
    CHECK(w.claim().accuse_by == due);  // it is still v4's
    w.env.send(w.env.person(w.claimant()), DisputeConcede{w.job, 0});
    CHECK((w.claim().dead && w.claim().accuse_by == 0 && w.claim().accusations.empty()));
    CHECK(list_accused(w.env.state(), w.job).empty());
    w.env.refuse(Reason::kClaimDead, w.env.person("v4"), w.challenge());
    w.env.send(w.env.person("v4"), w.call(w.vouchers().at(0)));
    CHECK(w.game(1).called);
    w.env.advance_to(due + 1);
    CHECK(w.games() == 2);
    CHECK(w.bond_of("v4") == locked);
    CHECK_FALSE(w.enlisted(w.env.person("v4").node_key()).dropped);
}

TEST_CASE("when the claim dies in a friend's game, an accuser with an open one loses nothing, and may call") {
    AccusedMerge w;
    w.merge(kThreeConspire);
    const Amount locked = w.bond_of("v4");
    w.env.send(w.env.person("m5"), w.challenge());
    w.env.send(w.env.person("v4"), w.challenge());
    CHECK(w.game(1).accuses);
    w.env.send(w.env.person(w.claimant()), DisputeConcede{w.job, 0});
    CHECK((w.game(1).end == GameEnd::kClosed && w.game(1).lost.is_zero()));
    CHECK(w.bond_of("v4") == locked);
    const auto vouchers = w.vouchers();
    REQUIRE(vouchers.size() == 2);
    w.env.send(w.env.person("v4"), w.call(vouchers[0]));
    CHECK(w.game(2).called);
}

TEST_CASE("accusers of a merge have their own time: others' challenges end with the window") {
    Params slow = merges_with_games();
    slow.dispute_move_window = kMergeOpenFor + 10;
    AccusedMerge w(slow);
    w.merge(kThreeConspire);
    const std::uint64_t settled = w.settled().settled_at;
    REQUIRE(w.claim().accuse_by > settled + kMergeOpenFor + 2);
    w.env.advance_to(settled + kMergeOpenFor + 1);
    w.env.refuse(Reason::kWindowClosed, w.env.person("m5"), w.challenge());
    w.env.send(w.env.person("v4"), w.challenge());
    CHECK(w.game(0).accuses);
    w.env.send(w.env.person(w.claimant()), DisputeConcede{w.job, 0});
    CHECK(w.claim().dead);
}

TEST_CASE("a job waits for the accusers of its last merge, and no stake leaves before") {
    JobSpec spec = small_job();
    spec.rounds = 1;
    AccusedMerge w(merges_with_games(), spec);
    w.merge(kOneLies);
    CHECK(w.env.job(w.job).phase == JobPhase::kClosing);
    const Amount locked = w.bond_of("v2");
    w.env.advance_to(w.claim().accuse_by);
    CHECK(w.game(0).lost == std::min(w.stake_of_accusation(), locked));
    play_job(w.env, w.job);
    const Job job = w.env.job(w.job);
    CHECK(job.phase == JobPhase::kEnded);
    CHECK(job.spent.units() + job.refunded.units() == job.spec.market.budget.units());
}

TEST_CASE("a word that no game can decide accuses nobody: another loss, another place of the bytes") {
    const bool of_loss = GENERATE(true, false);
    CAPTURE(of_loss);
    AccusedMerge w;
    const MergeClaim truth = w.of_slots({0, 1});
    MergeClaim other = truth;
    if (of_loss)
        other.held_out_loss ^= 1;
    else
        other.base_blob = bytes_of("nowhere");
    w.merge({{"v1", other}, {"v2", other}, {"v3", other}, {"v4", truth}});
    REQUIRE(w.settled().result == other);
    CHECK(w.line("v4").reason == Reason::kMergeUndecided);
    CHECK(w.line("v4").lost.is_zero());
    CHECK(w.claim().accusations.empty());
    CHECK(w.claim().accuse_by == 0);
}

TEST_CASE("clips that differ accuse, and the game is about the clip or the merge, as the accuser says") {
    JobSpec spec = small_job();
    spec.train.max_update_norm = 2.0F;
    AccusedMerge w(merges_with_games(), spec);
    MergeClaim clipped = w.of_slots({0, 1});
    clipped.clips[1] = 17;
    w.merge({{"v1", clipped}, {"v2", clipped}, {"v3", clipped}, {"v4", w.of_slots({0, 1})}});
    CHECK(w.line("v4").reason == Reason::kMergeAccuses);
    w.env.send(w.env.person("v4"), w.challenge(UnitKind::kClip, 1));
    CHECK((w.game(0).accuses && w.game(0).unit == UnitKind::kClip && w.game(0).part == 1));
}

TEST_CASE("each of several false mergers plays or loses for itself") {
    AccusedMerge w(merges_with_games(), small_job(), {"v1", "v2", "v3", "v4", "m3"});
    w.merge({{"v1", MergeManner::kLies}, {"v2", MergeManner::kLies}});
    REQUIRE(w.claim().accusations.size() == 2);
    w.env.send(w.env.person("v1"), w.challenge());
    CHECK(w.claim().accuse_by != 0);
    w.env.advance_to(w.claim().accuse_by);
    REQUIRE(w.games() == 2);
    CHECK(w.game(1).challenger == w.env.person("v2").node_key());
    CHECK((w.game(1).end == GameEnd::kSilent && !w.game(1).lost.is_zero()));
    w.env.send(w.env.person("v1"), DisputeConcede{w.job, 0});
    CHECK_FALSE(w.game(0).lost.is_zero());
}

}  // namespace assay::contracts::test
