// SPDX-License-Identifier: Apache-2.0
// Calls on those who vouched for a claim that has died: who may call whom, behind which bond.
#include <algorithm>
#include <functional>

#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/dispute_world.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

constexpr std::uint32_t kUnit = 1;  ///< the segment that most of these are about

DisputeCall call(const DisputeWorld& w, std::uint32_t killer, const PublicKey& verifier,
                 std::uint32_t part = kUnit) {
    return {w.job, killer, UnitKind::kSegment, part, verifier};
}

std::vector<PublicKey> vouchers(DisputeWorld& w, std::uint32_t part = kUnit) {
    return vouchers_of(w.env.state(), w.claim(0), UnitKind::kSegment, part);
}

std::uint32_t last_game(DisputeWorld& w) {
    return static_cast<std::uint32_t>(list_games(w.env.state(), w.job).size() - 1);
}

std::uint64_t settled_at(DisputeWorld& w) { return read_round(w.env.state(), w.job, 0)->settled_at; }

/// The miner's friend challenges its claim before anybody else does, about a unit that nobody else means, and
/// the miner concedes: game `number`.
void concede_to_friend_of(DisputeWorld& w, std::uint32_t slot, std::uint32_t number) {
    w.env.send(w.env.person("m5"), w.challenge(slot, UnitKind::kSegment, 0));
    w.env.send(w.env.person(w.miner_of(slot)), DisputeConcede{w.job, number});
    REQUIRE(w.game(number).killed_claim());
}

void concede_to_friend(DisputeWorld& w) { concede_to_friend_of(w, 0, 0); }

}  // namespace

TEST_CASE("the winner calls those who vouched: each defends the root that it computed, or loses its bond") {
    DisputeWorld w(false, VerifierManner::kColludes, DisputeWorld::unhurried());
    const std::string miner = w.miner_of(0);
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 1));
    w.env.refuse(Reason::kWrongPhase, w.env.person("v4"), call(w, 0, w.env.person("v1").node_key()));
    // A thrown game proves nothing: the miner concedes though its segment is right.
    w.env.send(w.env.person(miner), DisputeConcede{w.job, 0});
    const auto all = vouchers(w);
    REQUIRE(all.size() == w.panel());
    REQUIRE(all.size() >= 2);
    Person& first = w.env.by_node(all[0]);
    Person& second = w.env.by_node(all[1]);
    w.env.refuse(Reason::kNotDrawn, w.env.person("v4"), call(w, 0, w.env.person("m1").node_key()));
    for (const PublicKey& voucher : all) w.env.send(w.env.person("v4"), call(w, 0, voucher));
    w.env.refuse(Reason::kAlreadyDone, w.env.person("v4"), call(w, 0, all[0]));
    w.env.refuse(Reason::kWrongPhase, w.env.person("m5"), call(w, 1, all[0]));  // a call kills no claim
    const std::uint64_t stake = w.env.stake(first.name);
    const std::uint64_t watchers = w.env.stake("v4");
    w.post(first.name, 1);
    w.env.send(second, DisputeConcede{w.job, 2});
    w.let_clock_run_out(1);
    CHECK_FALSE(w.game(1).claimant_lost);
    CHECK(w.env.stake(first.name) == stake);
    CHECK(w.env.stake("v4") == watchers);  // the winner's call takes no bond
    CHECK(w.game(2).claimant_lost);
    CHECK_FALSE(w.game(2).lost.is_zero());
    for (const EnlistedVerifier& verifier : w.env.job(w.job).verifiers) {
        if (verifier.node == second.node_key()) CHECK(verifier.dropped);
    }
}

TEST_CASE(
    "a claim that is conceded to a friend before anybody else has a game saves nobody who vouched for it: "
    "a stranger calls all of them, about the unit that is false") {
    DisputeWorld w;
    concede_to_friend(w);
    const auto all = vouchers(w);
    REQUIRE(all.size() == w.panel());
    // The friend calls one itself, about that unit, to be silent.
    w.env.send(w.env.person("m5"), call(w, 0, all[0]));
    const std::uint64_t stake = w.env.stake("v4");
    Amount bonds = Amount{};
    for (const PublicKey& voucher : all) {
        const std::uint64_t free = read_stake(w.env.state(), w.env.person("v4").node_key()).free.units();
        w.env.send(w.env.person("v4"), call(w, 0, voucher));
        const Game game = w.game(last_game(w));
        CHECK(game.called);
        CHECK(game.part == kUnit);
        CHECK(game.claimant == voucher);
        CHECK(game.challenger == w.env.person("v4").node_key());
        CHECK(read_stake(w.env.state(), game.challenger).free.units() == free - game.bond.units());
        // They double with what is open.
        CHECK(game.bond > bonds);
        bonds = sum(bonds, game.bond);
        w.env.refuse(Reason::kAlreadyDone, w.env.person("v4"), call(w, 0, voucher));
    }
    for (const Game& game : list_games(w.env.state(), w.job)) {
        if (!game.called || !game.is_open() || game.challenger == w.env.person("m5").node_key()) continue;
        w.env.send(w.env.by_node(game.claimant), DisputeConcede{w.job, game.number});
        CHECK(w.game(game.number).claimant_lost);
        CHECK_FALSE(w.game(game.number).lost.is_zero());
    }
    CHECK(w.env.stake("v4") == stake);
    for (const EnlistedVerifier& verifier : w.env.job(w.job).verifiers) {
        const bool vouched = std::find(all.begin(), all.end(), verifier.node) != all.end();
        CHECK(verifier.bond.is_zero() == vouched);
    }
}

TEST_CASE(
    "an honest verifier that strangers call about many units loses nothing, and they lose their bonds") {
    DisputeWorld w;
    concede_to_friend(w);
    const PublicKey voucher = vouchers(w)[0];
    const std::string name = w.env.by_node(voucher).name;
    const auto locked = [&] {
        Job job = w.env.job(w.job);
        return enlisted_verifier(job, voucher).bond;
    };
    const Amount before = locked();
    const std::uint64_t owned = w.env.balance(name);
    const std::uint64_t friends = w.env.stake("m5");
    const std::uint64_t strangers = w.env.stake("v4");
    // A friend of the claim's and a stranger, about everything that there is.
    for (const char* who : {"m5", "v4"})
        for (const std::uint32_t part : {1U, 0U}) w.env.send(w.env.person(who), call(w, 0, voucher, part));
    std::size_t running = 0;
    Amount lost;
    for (const Game& game : list_games(w.env.state(), w.job)) {
        if (!game.called) continue;
        running += game.phase == GamePhase::kRunning ? 1 : 0;
        lost = sum(lost, game.bond);
        CHECK(game.bond.is_zero() == (game.challenger == w.game(0).challenger && game.part == 0));
    }
    CHECK(running == kGamesAtOnce);  // the others wait with their clocks stopped
    for (const std::uint32_t number : {1U, 3U}) {
        for (const std::uint32_t one : {number, number + 1}) w.post(name, one);
        w.let_clock_run_out(number + 1);
    }
    for (std::uint32_t number = 1; number <= 4; ++number) {
        CHECK(w.game(number).end == GameEnd::kSilent);
        CHECK_FALSE(w.game(number).claimant_lost);
    }
    CHECK(locked() == before);
    CHECK(w.env.balance(name) > owned);
    CHECK(w.env.stake("m5") + w.env.stake("v4") == friends + strangers - lost.units());
}

TEST_CASE("who calls an honest voucher loses its bond: to the voucher what its replay costs") {
    DisputeWorld w;
    concede_to_friend(w);
    const PublicKey voucher = vouchers(w)[0];
    const std::string name = w.env.by_node(voucher).name;
    const std::uint64_t stake = w.env.stake("v4");
    const std::uint64_t owned = w.env.balance(name);
    w.env.send(w.env.person("v4"), call(w, 0, voucher));
    w.post(name, 1);
    w.let_clock_run_out(1);
    CHECK_FALSE(w.game(1).claimant_lost);
    CHECK(w.game(1).bond == w.bond());
    CHECK(w.game(1).lost == w.game(1).bond);
    CHECK(w.env.stake("v4") == stake - w.game(1).bond.units());
    CHECK(w.env.balance(name) == owned + smaller(w.cost(), w.bond()).units());
}

TEST_CASE("whom somebody calls must have vouched for that very unit, and be nobody of its own") {
    DisputeWorld w;
    concede_to_friend(w);
    const PublicKey voucher = vouchers(w)[0];
    Person& stranger = w.env.person("v4");
    w.env.refuse(Reason::kNoSuchGame, stranger, call(w, 7, voucher));
    w.env.refuse(Reason::kNoSuchUnit, stranger, call(w, 0, voucher, 2));
    w.env.refuse(Reason::kNoSuchUnit, stranger, DisputeCall{w.job, 0, UnitKind::kMerge, 0, voucher});
    w.env.refuse(Reason::kNoSuchUnit, stranger, DisputeCall{w.job, 0, UnitKind::kUpdate, 1, voucher});
    w.env.refuse(Reason::kOwnClaim, w.env.by_node(voucher), call(w, 0, voucher));
    // Somebody who drew no unit of the slot, and one whose root of this unit is another.
    w.env.refuse(Reason::kNotDrawn, stranger, call(w, 0, stranger.node_key()));
    w.env.edit<Reveal>(reveal_key(w.job, 0, 0),
                       [](Reveal& reveal) { reveal.trace.boundaries[1] = bytes_of("false"); });
    w.env.refuse(Reason::kNotDrawn, stranger, call(w, 0, voucher, 0));
    w.env.refuse(Reason::kNotDrawn, stranger, call(w, 0, voucher, 1));
    w.env.send(stranger, DisputeCall{w.job, 0, UnitKind::kCarried, 0, voucher});
    const Amount bond = w.game(1).bond;
    // Who cannot give the doubled bond of the next one is refused, and the friend gives one as well where the
    // unit is not that of the game that it won.
    w.env.send(w.env.person("m5"), DisputeCall{w.job, 0, UnitKind::kUpdate, 0, voucher});
    CHECK(w.game(2).bond == sum(bond, bond));
    Stake poor = read_stake(w.env.state(), stranger.node_key());
    w.env.send(stranger, StakeWithdraw{stranger.node_key(), poor.free});
    w.env.refuse(Reason::kInsufficientStake, stranger, DisputeCall{w.job, 0, UnitKind::kUpdate, 0, voucher});
}

TEST_CASE("a dead claim is open for calls until the end of its window, and for a move at least") {
    const bool late = GENERATE(false, true);
    CAPTURE(late);
    DisputeWorld w;
    const std::uint64_t window = settled_at(w) + kDisputeWindow;
    // It can die in the last height of its window.
    if (late) w.env.advance_to(window - 2);
    w.env.send(w.env.person("m5"), w.challenge(0, UnitKind::kSegment, 0));
    if (late) w.env.advance_to(window - 1);
    REQUIRE(w.game(0).is_open());
    w.env.send(w.env.person(w.miner_of(0)), DisputeConcede{w.job, 0});
    const std::uint64_t died = w.env.height();
    REQUIRE(w.game(0).ended_at == died);
    const std::uint64_t end = late ? died + w.env.params().dispute_move_window : window;
    CHECK(end_of_calls(w.env.state(), w.job, w.game(0)) == end);
    const auto all = vouchers(w);
    REQUIRE(all.size() >= 2);
    w.env.advance_to(end - 1);
    w.env.send(w.env.person("v4"), call(w, 0, all[0]));
    w.env.advance_to(end);
    // The claim stays for the game, and takes no further call, whatever becomes of the game.
    REQUIRE(read_claim(w.env.state(), w.claim(0)));
    w.env.refuse(Reason::kWindowClosed, w.env.person("v4"), call(w, 0, all[1]));
    w.env.send(w.env.by_node(all[0]), DisputeConcede{w.job, 1});
    CHECK(w.game(1).claimant_lost);
    w.env.refuse(Reason::kWindowClosed, w.env.person("v4"), call(w, 0, all[1]));
    w.env.advance_to(w.env.height() + 2);
    CHECK_FALSE(read_claim(w.env.state(), w.claim(0)));
    // It was the last one of its job.
    w.env.refuse(Reason::kJobOver, w.env.person("v4"), call(w, 0, all[1]));
}

TEST_CASE("a job waits for the window of a dead claim that nobody calls about, and ends then") {
    DisputeWorld w;
    concede_to_friend(w);
    const auto all = vouchers(w);
    Play play;
    while (w.env.job(w.job).phase == JobPhase::kRounds) play_round(w.env, w.job, play);
    while (w.env.job(w.job).phase == JobPhase::kClosing) w.env.let_deadline_pass();
    const Job job = w.env.job(w.job);
    CHECK(job.phase == JobPhase::kEnded);
    for (const EnlistedVerifier& verifier : job.verifiers) CHECK(verifier.bond.is_zero());
    w.env.refuse(Reason::kWindowClosed, w.env.person("v4"), call(w, 0, all[0]));
}

TEST_CASE("a verifier that has lost one call has nothing left, and answers for another without a bond") {
    DisputeWorld w;
    concede_to_friend(w);
    const PublicKey voucher = vouchers(w)[0];
    w.env.send(w.env.person("v4"), call(w, 0, voucher));
    w.env.send(w.env.by_node(voucher), DisputeConcede{w.job, 1});
    REQUIRE(w.game(1).claimant_lost);
    const std::uint64_t stake = w.env.stake(w.env.by_node(voucher).name);
    w.env.send(w.env.person("v4"), call(w, 0, voucher, 0));
    w.env.send(w.env.by_node(voucher), DisputeConcede{w.job, 2});
    CHECK(w.game(2).claimant_lost);
    CHECK(w.game(2).lost.is_zero());
    CHECK(w.env.stake(w.env.by_node(voucher).name) == stake);
}

TEST_CASE("nobody vouched for a unit whose start it did not compute as the miner says") {
    // The first boundary alone is false: verifiers agree with the second unit's end, not with its start.
    DisputeWorld w;
    const Reveal honest = *read_reveal(w.env.state(), w.job, 0, 0);
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 1));
    w.env.send(w.env.person(w.miner_of(0)), DisputeConcede{w.job, 0});
    CHECK(vouchers(w).size() == w.panel());
    w.env.edit<Reveal>(reveal_key(w.job, 0, 0),
                       [](Reveal& reveal) { reveal.trace.boundaries[1] = bytes_of("false"); });
    CHECK(vouchers(w).empty());
}

TEST_CASE("those who vouched for a first segment are called like all others: it starts from the base") {
    DisputeWorld w;
    w.open("v4", 0);
    w.env.send(w.env.person(w.miner_of(0)), DisputeConcede{w.job, 0});
    const auto all = vouchers(w, 0);
    REQUIRE(all.size() == w.panel());
    REQUIRE(all.size() >= 2);
    w.env.send(w.env.person("v4"), call(w, 0, all[0], 0));
    CHECK(w.game(1).claimant == all[0]);
    CHECK(read_game_pieces(w.env.state(), w.job, 1)->unit.states[0] ==
          read_reveal(w.env.state(), w.job, 0, 0)->trace.boundaries[0]);
}

TEST_CASE("a claim lists its games, those that have ended too, until it is closed, and lists no others") {
    DisputeWorld w;
    w.open("v4", 1);
    concede_to_friend_of(w, 0, 1);
    const std::vector<PublicKey> all = vouchers(w, 0);
    w.env.send(w.env.person("m5"), call(w, 1, all.at(0), 0));
    CHECK(list_game_numbers(w.env.state(), w.claim(0)) == std::vector<std::uint32_t>{1, 2});
    CHECK(list_game_numbers(w.env.state(), w.claim(1)) == std::vector<std::uint32_t>{0});
    CHECK(list_games_about_open_claims(w.env.state(), w.job).size() == 3);
    const auto finding = [&](const std::function<void(Overlay&)>& damage) {
        Overlay overlay(w.env.state());
        damage(overlay);
        CHECK_FALSE(check_invariants(w.env.state(), overlay).ok());
        return check_invariants(overlay).ok();
    };
    for (const std::uint32_t game : {1U, 2U})
        CHECK_FALSE(finding([&](Overlay& o) { o.erase(game_about_key(w.claim(0), game)); }));
    CHECK_FALSE(finding([&](Overlay& o) { o.put(game_about_key(w.claim(1), 2), {}); }));
    CHECK_FALSE(finding([&](Overlay& o) { o.put(game_about_key(w.claim(0), 3), {}); }));
    CHECK_FALSE(finding([&](Overlay& o) { o.erase(game_due_key(w.job, 2, w.game(2).due)); }));
    CHECK_FALSE(finding([&](Overlay& o) { note_game_due(o, w.job, 2, w.game(2).due + 1); }));
    CHECK_FALSE(finding([&](Overlay& o) { note_accusers_due(o, w.claim(1), w.game(2).due); }));
    CHECK_FALSE(finding([&](Overlay& o) { o.erase(deadline_key({w.game(2).due, DueKind::kGames, w.job})); }));
    // Both are gone: the clock of the game is no game's, and nobody's bond.
    CHECK_FALSE(finding([&](Overlay& o) {
        o.erase(game_key(w.job, 2));
        o.erase(game_about_key(w.claim(0), 2));
    }));
    CHECK_FALSE(finding([&](Overlay& o) {
        Game game = w.game(0);
        game.claim = 0;
        store(o, game_key(w.job, 0), game);
    }));
    CHECK_FALSE(finding([&](Overlay& o) {
        Claim claim = *read_claim(o, w.claim(0));
        ++claim.challenges;
        store(o, claim_key(w.claim(0)), claim);
    }));
    while (read_claim(w.env.state(), w.claim(0))) w.env.next_block();
    CHECK(list_game_numbers(w.env.state(), w.claim(0)).empty());
    CHECK(w.game(2).called);
}

}  // namespace assay::contracts::test
