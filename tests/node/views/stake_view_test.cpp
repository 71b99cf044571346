// SPDX-License-Identifier: Apache-2.0
// What the views say of stake while jobs lock it, and of jobs that are to end.
#include <algorithm>

#include "node/views/job_end_view.hpp"
#include "node/views/party_view.hpp"
#include "node/views/stake_view.hpp"
#include "tests/contracts/rules/dispute_world.hpp"
#include "tests/contracts/rules/market_world.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace contracts::test;

StakeView stake_of(Env& env, const std::string& name) {
    return stake_view(env.state(), env.person(name).node_key()).value();
}

const StakeLock* lock_of(const StakeView& view, LockKind kind) {
    const auto found = std::find_if(view.locks.begin(), view.locks.end(),
                                    [&](const StakeLock& lock) { return lock.kind == kind; });
    return found == view.locks.end() ? nullptr : &*found;
}

/// Of every node key on the ledger.
void expect_locks_add_up(Env& env) {
    for (const auto& [node, key] : contracts::list_node_keys(env.state())) {
        const StakeView view = stake_view(env.state(), node).value();
        std::uint64_t sum = 0;
        for (const StakeLock& lock : view.locks) sum += lock.amount.units();
        INFO(env.by_node(node).name << " at " << env.height());
        CHECK(sum == view.bonded.units());
    }
}

base::Hash256 job_of_three(Env& env) {
    for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    contracts::JobSpec spec = small_job();
    spec.slots = 3;
    const base::Hash256 id = env.post(spec);
    env.hold_auction(id, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
    return id;
}

void let_commits_end(Env& env, const base::Hash256& id) {
    while (env.round(id).phase == contracts::RoundPhase::kCommit) env.next_block();
}

}  // namespace

TEST_CASE("what locks a node key's stake adds up to what is bonded, at every step of a job") {
    Env env;
    const base::Hash256 id = job_of_three(env);
    const Play play = {.miners = {{"m1", MinerManner::kCheats}}};
    expect_locks_add_up(env);
    const StakeView dealt = stake_of(env, "m2");
    REQUIRE(lock_of(dealt, LockKind::kSlots) != nullptr);
    CHECK(lock_of(dealt, LockKind::kSlots)->count == 1);
    CHECK(lock_of(dealt, LockKind::kWindows) == nullptr);
    env.next_block();
    play_commits(env, id, play);
    let_commits_end(env, id);
    play_links(env, id, play);
    expect_locks_add_up(env);
    play_verdicts(env, id, play);
    expect_locks_add_up(env);
    CHECK(lock_of(stake_of(env, "v1"), LockKind::kMerges) != nullptr);
    CHECK(lock_of(stake_of(env, "v1"), LockKind::kLinks) != nullptr);
    play_merges(env, id, play);
    expect_locks_add_up(env);
    const StakeView settled = stake_of(env, "m2");
    REQUIRE(lock_of(settled, LockKind::kWindows) != nullptr);
    CHECK(lock_of(settled, LockKind::kWindows)->until ==
          contracts::read_round(env.whole(), id, 0)->settled_at + env.params().claim_window);
    CHECK(lock_of(stake_of(env, "v1"), LockKind::kMerges) == nullptr);
    CHECK(lock_of(stake_of(env, "v1"), LockKind::kAudits) != nullptr);
    play_accusations(env, id, 0, play);
    expect_locks_add_up(env);
    const StakeView cheat = stake_of(env, "m1");
    CHECK_FALSE(cheat.forfeited.is_zero());
    CHECK(cheat.roles == std::vector<std::string>{"miner"});
    play_job(env, id, play);
    expect_locks_add_up(env);
    CHECK(stake_of(env, "m2").locks.empty());
    CHECK(stake_of(env, "m2").bonded.is_zero());
}

TEST_CASE("a challenge locks its bond until its game ends") {
    DisputeWorld world;
    const std::uint32_t game = world.open("v4", 0);
    expect_locks_add_up(world.env);
    const StakeView view = stake_of(world.env, "v4");
    REQUIRE(lock_of(view, LockKind::kChallenges) != nullptr);
    CHECK(lock_of(view, LockKind::kChallenges)->amount == world.bond());
    CHECK(lock_of(view, LockKind::kChallenges)->job == world.job);
    world.let_clock_run_out(game);
    expect_locks_add_up(world.env);
    CHECK(lock_of(stake_of(world.env, "v4"), LockKind::kChallenges) == nullptr);
}

TEST_CASE("what is sealed in the market has a deposit beside the stake") {
    MarketWorld world;
    world.seal_lot("m1", {.price = 20});
    const StakeView view = stake_of(world.env, "m1");
    REQUIRE(view.deposits.size() == 1);
    CHECK(view.deposits.front().behind == "lot");
    CHECK(view.deposits.front().amount == contracts::read_market_params(world.env.state()).lot_deposit);
    expect_locks_add_up(world.env);
}

TEST_CASE("a key that nobody registered has no stake to show") {
    Env env;
    CHECK_FALSE(stake_view(env.state(), env.person("m5").node_key()).has_value());
}

TEST_CASE("a wallet has what its node keys withdrew until it is paid, in the order of the blocks") {
    Env env;
    Person& m1 = env.miner("m1");
    env.miner("m2");
    const auto withdraw = [&](std::uint64_t units) {
        env.send(m1, contracts::StakeWithdraw{m1.node_key(), amount(units)});
    };
    withdraw(300);
    const std::uint64_t first = env.height() + env.params().unbonding_delay;
    env.advance_to(env.height() + 5);
    withdraw(200);
    env.send(env.person("m2"), contracts::StakeWithdraw{env.person("m2").node_key(), amount(7)});
    WalletView wallet = wallet_view(env.state(), m1.owner_key());
    CHECK(wallet.unbonding.count == 500);
    REQUIRE(wallet.withdrawals.size() == 2);
    CHECK(wallet.withdrawals[0].amount == amount(300));
    CHECK(wallet.withdrawals[0].block == first);
    CHECK(wallet.withdrawals[1].block == first + 5);
    REQUIRE(wallet.nodes.size() == 1);
    CHECK(wallet.nodes[0].node == m1.node_key());
    CHECK(wallet.nodes[0].stake == amount(kPlenty - 500));
    env.advance_to(first);
    wallet = wallet_view(env.state(), m1.owner_key());
    CHECK(wallet.unbonding.count == 200);
    CHECK(stake_of(env, "m1").unbonding.count == 200);
}

TEST_CASE("a wallet counts the stake of a node key without a role") {
    Env env;
    Person& buyer = env.person("buyer");
    (void)env.post(small_job());
    REQUIRE(contracts::read_node_key(env.state(), buyer.node_key()));
    env.send(buyer, contracts::StakeDeposit{buyer.node_key(), amount(70)});
    CHECK(wallet_view(env.state(), buyer.owner_key()).stake.count == 70);
}

TEST_CASE("the end of a cancelled job is told in its three stages") {
    Env env;
    const base::Hash256 id = job_of_three(env);
    play_round(env, id);
    const std::uint64_t first = contracts::read_round(env.whole(), id, 0)->settled_at;
    env.send(env.person("buyer"), contracts::JobCancel{id});
    const JobEndView running = job_end_view(env.whole(), id).value();
    CHECK(running.phase == contracts::JobPhase::kRounds);
    CHECK(running.running_round == 1);
    CHECK(running.windows_end == first + env.params().claim_window);
    CHECK(running.text().find("round 1 runs, and is settled first") != std::string::npos);
    CHECK(running.text().find("hold their pay for " + std::to_string(env.params().claim_window) +
                              " blocks more") != std::string::npos);

    play_round(env, id);
    const std::uint64_t second = contracts::read_round(env.whole(), id, 1)->settled_at;
    const JobEndView closing = job_end_view(env.whole(), id).value();
    CHECK(closing.phase == contracts::JobPhase::kClosing);
    CHECK_FALSE(closing.running_round.has_value());
    CHECK(closing.windows_end == second + env.params().claim_window);
    CHECK(closing.text().find("the last in block " + std::to_string(*closing.windows_end)) !=
          std::string::npos);

    env.advance_to(*closing.windows_end);
    const JobEndView ended = job_end_view(env.whole(), id).value();
    CHECK(ended.phase == contracts::JobPhase::kEnded);
    CHECK(ended.ended_at == closing.windows_end);
    CHECK(ended.refunded == closing.escrow);
    env.next_block();
    env.next_block();
    // Its records have left.
    CHECK(job_end_view(env.state(), id).value().refunded == closing.escrow);
    CHECK(ended.text().find("has ended in block " + std::to_string(*closing.windows_end)) !=
          std::string::npos);
    CHECK_FALSE(job_end_view(env.state(), bytes_of("no job")).has_value());
}

}  // namespace assay::node
