// SPDX-License-Identifier: Apache-2.0
// The conservation check must be able to fail: money made, lost or moved behind the totals is found.
#include "contracts/rules/conservation.hpp"

#include <set>

#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/busy_market.hpp"
#include "tests/contracts/rules/market_world.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

/// The tables that hold money in this state. None of their records can go unseen.
std::set<Table> tables_with_money(const StateView& state) {
    std::set<Table> tables;
    for (const auto& [key, value] : state.scan({})) {
        const auto held = money_in(key, value);
        REQUIRE(held.ok());
        if (total(*held)->is_zero()) continue;
        Overlay overlay(state);
        overlay.erase(key);
        CAPTURE(int{key.front()});
        CHECK_FALSE(check_changes(state, overlay).ok());
        tables.insert(static_cast<Table>(key.front()));
    }
    return tables;
}

}  // namespace

TEST_CASE("a record that changes without its running total is a violation") {
    Env env;
    env.miner("m1");
    const PublicKey owner = env.person("m1").owner_key();
    const PublicKey node = env.person("m1").node_key();
    {
        Overlay overlay(env.state());
        CHECK(check_changes(env.state(), overlay).ok());
        Account account = read_account(overlay, owner);
        account.balance = amount(account.balance.units() + 1);
        store(overlay, account_key(owner), account);
        CHECK(check_changes(env.state(), overlay).error().what.find("balances") != std::string::npos);
        CHECK_FALSE(check_invariants(overlay).ok());
    }
    {
        Overlay overlay(env.state());
        Stake stake = read_stake(overlay, node);
        std::swap(stake.free, stake.bonded);
        store(overlay, stake_key(node), stake);
        CHECK(check_changes(env.state(), overlay).error().what.find("stake") != std::string::npos);
    }
    {
        Overlay overlay(env.state());
        Miner miner = *read_miner(overlay, node);
        miner.prepaid = {};
        store(overlay, miner_key(node), miner);
        CHECK_FALSE(check_changes(env.state(), overlay).ok());
    }
    {
        Overlay overlay(env.state());
        overlay.erase(account_key(owner));
        CHECK_FALSE(check_changes(env.state(), overlay).ok());
    }
}

TEST_CASE("minting, and unburning, are violations even when records and totals agree") {
    Env env;
    const PublicKey owner = env.person("m1").owner_key();
    Overlay overlay(env.state());
    Account account = read_account(overlay, owner);
    account.balance = amount(account.balance.units() + 1);
    store(overlay, account_key(owner), account);
    Supply supply = read_supply(overlay);
    supply.balances = amount(supply.balances.units() + 1);
    store(overlay, supply_key(), supply);
    CHECK_FALSE(check_changes(env.state(), overlay).ok());
    supply.minted = amount(supply.minted.units() + 1);
    store(overlay, supply_key(), supply);
    CHECK_FALSE(check_changes(env.state(), overlay).ok());
}

TEST_CASE("no record that holds money goes without its running total") {
    BusyMarket market;
    std::set<Table> tables = tables_with_money(market.env.state());
    {
        // A sealed lot and a sealed bid, and the deposit behind the class of a lot that was opened.
        MarketWorld world;
        world.seal_lot("m1", {1});
        world.seal_lot("m2", {1});
        world.seal_bid("buyer", {1, 500});
        world.to_opening();
        world.env.send(world.env.person("m1"), world.lot_opening("m1"));
        tables.merge(tables_with_money(world.env.state()));
    }
    {
        // A link bond that was lost in a round that is not settled.
        Env env;
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        const Hash256 job = env.post(small_job());
        env.hold_auction(job, {{"m1", 300}, {"m2", 400}}, {"v1", "v2", "v3"});
        play_commits(env, job, {});
        play_links(env, job, {.withhold_links = {"v3"}});
        tables.merge(tables_with_money(env.state()));
    }
    CHECK(tables == std::set{Table::kAccount, Table::kStake, Table::kUnbonding, Table::kMiner, Table::kAsk,
                             Table::kJobProgress, Table::kBeaconMember, Table::kBeaconLink, Table::kClaim,
                             Table::kLotAsk, Table::kLotBid, Table::kMachine});
}

TEST_CASE("the checkers of the whole state each find what is theirs") {
    Env env;
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2"}) env.verifier(name);
    const Hash256 id = env.post(small_job());
    env.hold_auction(id, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
    const auto finding = [](const StateView& state) {
        const auto result = check_invariants(state);
        return result ? std::string() : result.error().what;
    };
    CHECK(finding(env.state()).empty());
    {
        Overlay overlay(env.state());
        SlotRound slot = *read_slot(overlay, id, 0, 0);
        slot.bond = {};
        store(overlay, slot_key(id, 0, 0), slot);
        CHECK(finding(overlay).find("claims and round") != std::string::npos);
        const ClaimId name{id, 0, ClaimKind::kSlot, 0};
        Claim claim = *read_claim(overlay, name);
        claim.bond = {};
        store(overlay, claim_key(name), claim);
        CHECK(finding(overlay).find("locked by nothing") != std::string::npos);
    }
    {
        Overlay overlay(env.state());
        overlay.erase(active_job_key(id));
        CHECK_FALSE(finding(overlay).empty());
    }
    {
        Overlay overlay(env.state());
        overlay.erase(node_key(env.person("m1").node_key()));
        CHECK(finding(overlay).find("has no node key") != std::string::npos);
    }
    {
        Overlay overlay(env.state());
        Meta meta = read_meta(overlay);
        ++meta.schema;
        store(overlay, meta_key(), meta);
        CHECK(finding(overlay).find("schema") != std::string::npos);
    }
}

}  // namespace assay::contracts::test
