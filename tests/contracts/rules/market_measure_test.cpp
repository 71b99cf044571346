// SPDX-License-Identifier: Apache-2.0
// A machine's verified speed, and what a class that was not measured costs whoever overstates it.
#include "contracts/rules/market/measure.hpp"

#include "contracts/rules/market/tenants.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/market_world.hpp"
#include "tests/contracts/rules/rounds.hpp"

namespace assay::contracts::test {

namespace {

LotClass of_speed(std::uint8_t bits) { return {program::Profile::kF32, bits, 5, 8}; }

/// As if a round had shown so many bits of speed of m1.
void measure(MarketWorld& w, std::uint8_t bits) {
    const PublicKey& node = w.env.person("m1").node_key();
    MachineSpeed machine = read_machine(w.env.state(), node, program::Profile::kF32);
    machine.speeds = {(std::uint64_t{1} << bits) - 1};
    if (!w.env.state().get(machine_key(node, program::Profile::kF32))) return;
    w.env.edit<MachineSpeed>(machine_key(node, program::Profile::kF32),
                             [&](MachineSpeed& one) { one = machine; });
}

}  // namespace

TEST_CASE("market: the best of the recent rounds found right is a machine's verified speed") {
    MarketWorld w;
    Overlay state(w.env.state());
    const PublicKey& node = w.env.person("m1").node_key();
    const auto machine = [&] { return read_machine(state, node, program::Profile::kF32); };
    const auto note = [&](std::uint64_t work, std::uint64_t heights) {
        note_speed(state, node, program::Profile::kF32, work, heights);
    };
    CHECK(machine().speed_bits() == std::nullopt);
    note(1'000, 100);  // 10,000 thousandths of a unit a height
    CHECK(machine().speed_bits() == 14);
    note(1, 1'000);  // much slower this time
    CHECK(machine().speed_bits() == 14);
    CHECK(machine().speeds.size() == 2);
    CHECK(read_machine(state, node, program::Profile::kI16).speeds.empty());
    // What shows as many bits replaces the oldest, too: the memory is of recent rounds.
    for (std::size_t i = 0; i < kSpeedsKept; ++i) note(900, 100);
    CHECK(machine().speeds == std::vector<std::uint64_t>(kSpeedsKept, 9'000));
    for (std::size_t i = 0; i < kSpeedsKept; ++i) note(10, 1'008);
    CHECK(machine().speeds == std::vector<std::uint64_t>(kSpeedsKept, 10));
    CHECK(machine().speed_bits() == 4);
    note_speed(state, node, program::Profile::kF32, ~base::Uint128{0} / 1'000, 0);
    CHECK(machine().speed_bits() == kMaxSpeedBits);
}

TEST_CASE("market: a round too short to show whether a machine is as fast as believed says nothing") {
    MarketWorld w;
    Overlay state(w.env.state());
    const PublicKey& node = w.env.person("m1").node_key();
    const auto note = [&](std::uint64_t work, std::uint64_t heights) {
        note_speed(state, node, program::Profile::kF32, work, heights);
        return read_machine(state, node, program::Profile::kF32).speeds;
    };
    const std::vector<std::uint64_t> fast{8'192};  // the slowest of 14 bits
    REQUIRE(note(8'192, 1'000) == fast);
    // So short that any machine may have waited all the time.
    CHECK(note(1, 1) == fast);
    CHECK(note(1, kHeightsUnseen) == fast);
    // One of 14 bits does this in a height, and may have waited for the others.
    CHECK(note(9, kHeightsUnseen + 1) == fast);
    // In the same time it would have done more than this: what is kept is the most that the round leaves
    // open.
    CHECK(note(8, kHeightsUnseen + 1) == std::vector<std::uint64_t>{8'192, 8'000});
    CHECK(note(82, kHeightsUnseen + 10) == std::vector<std::uint64_t>{8'192, 8'000});
    CHECK(note(81, kHeightsUnseen + 10) == std::vector<std::uint64_t>{8'192, 8'000, 8'100});
    // However short, what shows more is kept.
    CHECK(note(20, 1) == std::vector<std::uint64_t>{8'192, 8'000, 8'100, 20'000});
}

TEST_CASE("market: settled rounds measure the machines of others, and never the buyer's own") {
    Env env;
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    const Hash256 job = env.post(small_job());
    env.hold_auction(job, {{"m1", 0}, {"m2", 0}}, {"v1", "v2", "v3"});
    play_round(env, job);
    for (const RosterEntry& entry : env.job(job).roster) {
        const MachineSpeed machine = read_machine(env.state(), entry.node, program::Profile::kF32);
        REQUIRE_FALSE(entry.speeds.empty());
        CHECK(machine.speeds == entry.speeds);
    }
    Env own;
    own.miner("m1");
    for (const char* name : {"v1", "v2", "v3"}) own.verifier(name);
    const Hash256 mine = own.post(small_job(), "m1");
    own.hold_auction(mine, {{"m1", 0}}, {"v1", "v2", "v3"});
    play_round(own, mine);
    CHECK_FALSE(own.job(mine).roster.front().speeds.empty());
    CHECK(read_machine(own.state(), own.person("m1").node_key(), program::Profile::kF32).speeds.empty());
    // Nor those of a member of its team that submitted it.
    Env team;
    Person& member = team.miner("m1");
    for (const char* name : {"v1", "v2", "v3"}) team.verifier(name);
    const Amount cap = amount(kPlenty);
    team.send(team.person("buyer"), TeamGrant{member.owner_key(), {cap, cap, 100, cap}});
    TeamSubmit wish;
    wish.spec = small_job();
    wish.node = member.node_key();
    wish.endpoint = "127.0.0.1:1";
    wish.beacon_tip = chain_tip(member.secret, wish.spec.rounds);
    wish.sponsor = team.person("buyer").owner_key();
    const Hash256 theirs = job_id(team.send(member, wish).id);
    team.hold_auction(theirs, {{"m1", 0}}, {"v1", "v2", "v3"});
    play_round(team, theirs);
    CHECK_FALSE(team.job(theirs).roster.front().speeds.empty());
    CHECK(read_machine(team.state(), member.node_key(), program::Profile::kF32).speeds.empty());
}

TEST_CASE(
    "market: a lot in a class above the measured speed is set aside, one at it gets its deposit back at "
    "once") {
    for (const std::uint8_t asked : {std::uint8_t{9}, std::uint8_t{10}, std::uint8_t{11}}) {
        MarketWorld w;
        w.seal_lot("m1", {1, of_speed(4)});
        w.open_and_clear();
        measure(w, 10);
        w.env.send(w.env.person("m1"), LotWithdraw{});
        w.to_next_epoch();
        REQUIRE(w.free_stake("m1") == amount(kPlenty));
        w.seal_lot("m1", {1, of_speed(asked)});
        w.to_opening();
        // Whoever sealed before a slower round can open, and loses nothing.
        w.env.send(w.env.person("m1"), w.lot_opening("m1"));
        CHECK(w.free_stake("m1") == amount(kPlenty));
        const std::size_t gone = w.told(EventKind::kLotGone).size();
        w.to_clearing();
        CHECK(w.free_stake("m1") == amount(kPlenty));
        REQUIRE(w.told(EventKind::kLotGone).size() == gone + (asked > 10 ? 1 : 0));
        if (asked > 10) CHECK(w.told(EventKind::kLotGone).back().reason == Reason::kClassTooFast);
    }
}

TEST_CASE("market: what stands behind a class that was not measured is lost two bits below it") {
    for (const std::uint8_t measured : {std::uint8_t{8}, std::uint8_t{9}, std::uint8_t{12}}) {
        MarketWorld w;
        const Amount burned = w.burned();
        w.seal_lot("m1", {1, of_speed(10), 9});
        w.seal_bid("buyer", {1, 500, of_speed(10)});
        w.open_and_clear();
        CHECK(w.free_stake("m1") == *amount(kPlenty).minus(w.params().lot_deposit));
        w.to_next_epoch();
        measure(w, measured);
        w.seal_bid("buyer", {1, 500, of_speed(10)});
        w.open_and_clear();
        // Measured below its class, it stands in that class no more.
        CHECK(read_lot_ask(w.env.state(), w.env.person("m1").node_key()).has_value() == (measured >= 10));
        w.to_next_epoch();
        const bool lost = measured == 8;
        CHECK(w.burned() == (lost ? *burned.plus(w.params().lot_deposit) : burned));
        CHECK((w.free_stake("m1") == amount(kPlenty)) == !lost);
        if (!lost) continue;
        REQUIRE(w.told(EventKind::kSealLost).size() == 1);
        CHECK(w.told(EventKind::kSealLost).front().reason == Reason::kClassNotMet);
    }
}

TEST_CASE("market: short rounds neither measure nor refute a class behind which a deposit stands") {
    MarketWorld w;
    const Amount burned = w.burned();
    const Amount without = *amount(kPlenty).minus(w.params().lot_deposit);
    const PublicKey& node = w.env.person("m1").node_key();
    const auto note = [&](std::uint64_t work, std::uint64_t heights) {
        w.env.step([&](Work& at) { note_speed(at.state, node, program::Profile::kF32, work, heights); });
    };
    const auto lease_once_more = [&] {
        w.seal_bid("buyer", {1, 500, of_speed(14)});
        w.open_and_clear();
        w.to_next_epoch();
    };
    w.seal_lot("m1", {1, of_speed(14), 9});
    lease_once_more();
    REQUIRE(w.leases("buyer").size() == 1);
    for (std::size_t i = 0; i < kSpeedsKept; ++i) note(1, 3);
    CHECK_FALSE(read_machine(w.env.state(), node, program::Profile::kF32).speed_bits());
    lease_once_more();
    CHECK(w.burned() == burned);
    CHECK(w.free_stake("m1") == without);
    REQUIRE(w.leases("buyer").size() == 1);
    // One bit below its class at best, and it may have waited: it would have its deposit back for that.
    note(5, kHeightsUnseen + 1);
    CHECK_FALSE(read_machine(w.env.state(), node, program::Profile::kF32).speed_bits());
    const int one_below = GENERATE(0, 1, 2);
    if (one_below != 0) {
        // One bit below: beyond doubt, and by the upper bound of a round that is long enough to tell.
        one_below == 1 ? note(6'000, 1'000) : note(400, 100);
        CHECK(read_machine(w.env.state(), node, program::Profile::kF32).speed_bits() == 13);
        lease_once_more();
        CHECK(w.burned() == burned);
        CHECK(w.free_stake("m1") == amount(kPlenty));
        return;
    }
    const bool is_fast = GENERATE(true, false);
    CAPTURE(is_fast);
    // Longer ones do: 14 bits begin at 8,192 thousandths of a unit a height, and 2,000 have two bits fewer,
    // less than 4,096 even if the machine worked in no more than these heights.
    is_fast ? note(9, 1) : note(200, kHeightsUnseen + 100);
    lease_once_more();
    CHECK(w.burned() == (is_fast ? burned : *burned.plus(w.params().lot_deposit)));
    CHECK(w.free_stake("m1") == (is_fast ? amount(kPlenty) : without));
}

TEST_CASE("market: what stands behind a class that nobody measures stays as long as its lot stands") {
    MarketWorld w;
    w.seal_lot("m1", {1, of_speed(10), 3});
    w.seal_bid("buyer", {1, 500, of_speed(10)});
    w.open_and_clear();
    w.to_next_epoch();
    REQUIRE(w.leases("buyer").size() == 1);
    w.to_next_epoch();
    CHECK(w.leases("buyer").empty());
    REQUIRE(read_lot_ask(w.env.state(), w.env.person("m1").node_key()));
    CHECK(w.free_stake("m1") == *amount(kPlenty).minus(w.params().lot_deposit));
    w.env.send(w.env.person("m1"), LotWithdraw{});
    CHECK(w.free_stake("m1") == amount(kPlenty));
}

TEST_CASE("market: a bid below the base price is owed nothing") {
    MarketWorld w;
    w.seal_lot("m1", {1});
    w.seal_lot("m2", {1});
    w.seal_bid("buyer", {1, 500});
    w.seal_bid("other", {4, w.params().least_base_price.units() - 1});
    w.open_and_clear();
    const auto owed = [&](const char* name) {
        return read_tenant(w.env.state(), w.env.person(name).owner_key(), kFast).entitled;
    };
    CHECK(owed("buyer") > 0);
    CHECK(owed("other") == 0);
}

TEST_CASE("market: shares are equal, nobody is entitled to more than it wanted") {
    const auto key = [](std::uint8_t byte) {
        PublicKey one;
        one.bytes.fill(byte);
        return one;
    };
    const TenantShares shares{{key(1), {1, 1}}, {key(2), {10, 5}}, {key(3), {10, 0}}};
    const auto entitled = entitlements(shares, 6);
    CHECK(entitled.at(key(1)) == 1'000);
    CHECK(entitled.at(key(2)) == 2'500);
    CHECK(entitled.at(key(3)) == 2'500);
    CHECK(entitlements(shares, 0).at(key(2)) == 0);
    CHECK(entitlements({{key(1), {2, 2}}}, 9).at(key(1)) == 2'000);
    MarketWorld w;
    Overlay state(w.env.state());
    count_shares(state, kFast, shares);
    CHECK(read_tenant(state, key(3), kFast).owed() == 2'500);
    CHECK(read_tenant(state, key(2), kFast).owed() == 0);
    for (int epoch = 0; epoch < 12; ++epoch) halve_tenants(state);
    CHECK_FALSE(state.get(tenant_key(key(3), kFast)));
}

}  // namespace assay::contracts::test
