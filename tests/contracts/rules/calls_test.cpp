// SPDX-License-Identifier: Apache-2.0
// Calls on those who vouched for a claim that has died: who may call whom, behind which bond.
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/dispute_world.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

TEST_CASE("the winner calls those who vouched: each defends the root that it computed, or loses its bond") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 1));
    w.env.refuse(Reason::kWrongPhase, w.env.person("v4"),
                 DisputeCall{w.job, 0, w.env.person("v1").node_key()});
    // A thrown game proves nothing: the miner concedes though its segment is right.
    w.env.send(w.env.person(miner), DisputeConcede{w.job, 0});
    const auto vouchers = vouchers_of(w.env.state(), w.job, w.game(0));
    REQUIRE(vouchers.size() == w.panel());
    REQUIRE(vouchers.size() >= 2);
    Person& first = w.env.by_node(vouchers[0]);
    Person& second = w.env.by_node(vouchers[1]);
    w.env.refuse(Reason::kNotYours, w.env.person("m5"), DisputeCall{w.job, 0, vouchers[0]});
    w.env.refuse(Reason::kNotDrawn, w.env.person("v4"), DisputeCall{w.job, 0, w.env.person("m1").node_key()});
    for (const PublicKey& voucher : vouchers) w.env.send(w.env.person("v4"), DisputeCall{w.job, 0, voucher});
    w.env.refuse(Reason::kAlreadyDone, w.env.person("v4"), DisputeCall{w.job, 0, vouchers[0]});
    const std::uint64_t stake = w.env.stake(first.name);
    const std::uint64_t watchers = w.env.stake("v4");
    w.post(first.name, 1);
    w.env.send(second, DisputeConcede{w.job, 2});
    w.let_clock_run_out(1);
    CHECK_FALSE(w.game(1).claimant_lost);
    CHECK(w.env.stake(first.name) == stake);
    CHECK(w.env.stake("v4") == watchers);  // a call takes no bond
    CHECK(w.game(2).claimant_lost);
    CHECK_FALSE(w.game(2).lost.is_zero());
    for (const EnlistedVerifier& verifier : w.env.job(w.job).verifiers) {
        if (verifier.node == second.node_key()) CHECK(verifier.dropped);
    }
}

TEST_CASE("a claim that its miner loses to a friend on purpose saves nobody who vouched for it") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 1));  // honest
    w.env.send(w.env.person("m5"), w.challenge(0, UnitKind::kSegment, 0));  // the miner's friend
    const std::uint64_t stake = w.env.stake("v4");
    w.env.send(w.env.person(miner), DisputeConcede{w.job, 1});
    REQUIRE(w.game(0).end == GameEnd::kClosed);
    const auto vouchers = vouchers_of(w.env.state(), w.job, w.game(0));
    REQUIRE_FALSE(vouchers.empty());
    Person& voucher = w.env.by_node(vouchers[0]);
    // The friend calls it about another unit, and about the same: to be silent.
    w.env.send(w.env.person("m5"), DisputeCall{w.job, 1, vouchers[0]});
    w.env.refuse(Reason::kNotYours, w.env.person("m5"), DisputeCall{w.job, 0, vouchers[0]});
    const std::uint64_t free = read_stake(w.env.state(), w.env.person("v4").node_key()).free.units();
    w.env.send(w.env.person("v4"), DisputeCall{w.job, 0, vouchers[0]});
    w.env.refuse(Reason::kAlreadyDone, w.env.person("v4"), DisputeCall{w.job, 0, vouchers[0]});
    CHECK(w.game(3).called);
    CHECK(w.game(3).part == 1);
    CHECK_FALSE(w.game(3).bond.is_zero());  // who did not win pays for a wrong call
    CHECK(read_stake(w.env.state(), w.env.person("v4").node_key()).free.units() ==
          free - w.game(3).bond.units());
    w.env.send(voucher, DisputeConcede{w.job, 3});
    CHECK(w.game(3).claimant_lost);
    CHECK_FALSE(w.game(3).lost.is_zero());
    CHECK(w.env.stake("v4") == stake);
}

TEST_CASE("a wrong call of one who did not win costs its bond") {
    DisputeWorld w;
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 1));
    w.env.send(w.env.person("m5"), w.challenge(0, UnitKind::kSegment, 0));
    w.env.send(w.env.person(w.miner_of(0)), DisputeConcede{w.job, 1});
    const auto vouchers = vouchers_of(w.env.state(), w.job, w.game(0));
    REQUIRE_FALSE(vouchers.empty());
    const std::string voucher = w.env.by_node(vouchers[0]).name;
    const std::uint64_t stake = w.env.stake("v4");
    w.env.send(w.env.person("v4"), DisputeCall{w.job, 0, vouchers[0]});
    w.post(voucher, 2);
    w.let_clock_run_out(2);
    CHECK_FALSE(w.game(2).claimant_lost);
    CHECK(w.game(2).lost == w.game(2).bond);
    CHECK(w.env.stake("v4") == stake - w.game(2).bond.units());
}

TEST_CASE("nobody vouched for a unit whose start it did not compute as the miner says") {
    // The first boundary alone is false: verifiers agree with the second unit's end, not with its start.
    DisputeWorld w;
    const Reveal honest = *read_reveal(w.env.state(), w.job, 0, 0);
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 1));
    w.env.send(w.env.person(w.miner_of(0)), DisputeConcede{w.job, 0});
    CHECK(vouchers_of(w.env.state(), w.job, w.game(0)).size() == w.panel());
    w.env.edit<Reveal>(reveal_key(w.job, 0, 0),
                       [](Reveal& reveal) { reveal.trace.boundaries[1] = bytes_of("false"); });
    CHECK(vouchers_of(w.env.state(), w.job, w.game(0)).empty());
}

TEST_CASE("those who vouched for a first segment are called like all others: it starts from the base") {
    DisputeWorld w;
    w.open("v4", 0);
    w.env.send(w.env.person(w.miner_of(0)), DisputeConcede{w.job, 0});
    const auto vouchers = vouchers_of(w.env.state(), w.job, w.game(0));
    REQUIRE(vouchers.size() == w.panel());
    REQUIRE(vouchers.size() >= 2);
    w.env.send(w.env.person("v4"), DisputeCall{w.job, 0, vouchers[0]});
    CHECK(w.game(1).claimant == vouchers[0]);
    CHECK(read_game_pieces(w.env.state(), w.job, 1)->unit.states[0] ==
          read_reveal(w.env.state(), w.job, 0, 0)->trace.boundaries[0]);
}

}  // namespace assay::contracts::test
