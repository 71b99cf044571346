// SPDX-License-Identifier: Apache-2.0
// What a block costs is what it touches. Counted, not timed: the same block on a small and on a large state.
#include <bit>

#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/counting_view.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::ledger {
namespace {

using contracts::MemoryState;
using contracts::Table;
using contracts::test::Env;

/// A job that ended and one in its rounds, with everything that the ledger keeps of them.
struct PlayedMarket {
    PlayedMarket() {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        contracts::JobSpec spec = contracts::test::small_job();
        spec.rounds = 1;
        ended = env.post(spec);
        env.hold_auction(ended, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
        play_job(env, ended);
        env.next_block();  // its records leave
        spec.rounds = 3;
        running = env.post(spec);
        env.hold_auction(running, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
    }
    Env env;
    Hash256 ended, running;
};

void replace_all(Bytes& bytes, const Hash256& old, const Hash256& fresh) {
    auto at = bytes.begin();
    while (true) {
        at = std::search(at, bytes.end(), old.bytes.begin(), old.bytes.end());
        if (at == bytes.end()) return;
        at = std::copy(fresh.bytes.begin(), fresh.bytes.end(), at);
    }
}

/// The market with a history: `count` more accounts, as many withdrawals that wait, and as many jobs that
/// ended, each with every record of the one that was played.
MemoryState with_history(const PlayedMarket& market, std::uint64_t count) {
    MemoryState state;
    std::vector<std::pair<Bytes, Bytes>> of_job;
    for (auto& [key, value] : market.env.state().scan({})) {
        const bool own = key.size() > 32 && base::hash_from(ByteView(key).subspan(1, 32)) == market.ended;
        if (own) of_job.emplace_back(key, value);
        state.put(key, value);
    }
    contracts::Supply supply = contracts::read_supply(state);
    for (std::uint64_t n = 0; n < count; ++n) {
        const Hash256 name = contracts::test::bytes_of("history " + std::to_string(n));
        const contracts::Amount one = base::units(1);
        store(state, contracts::account_key(PublicKey{name.bytes}), contracts::Account{one, n});
        store(state, contracts::unbonding_key(1'000'000 + n, n), contracts::Unbonding{{}, {}, one});
        supply.balances = supply.balances.plus(one).value();
        supply.unbonding = supply.unbonding.plus(one).value();
        supply.minted = supply.minted.plus(one).value().plus(one).value();
        for (auto [key, value] : of_job) {
            replace_all(key, market.ended, name);
            replace_all(value, market.ended, name);
            state.put(key, std::move(value));
        }
    }
    store(state, contracts::supply_key(), supply);
    return state;
}

/// The market with `count` more running jobs, each as the one that runs, but for a deadline that lies far
/// off.
MemoryState with_running(const PlayedMarket& market, std::uint32_t count) {
    MemoryState state;
    std::vector<std::pair<Bytes, Bytes>> of_job;
    for (auto& [key, value] : market.env.state().scan({})) {
        const bool own = key.size() > 32 && base::hash_from(ByteView(key).subspan(1, 32)) == market.running;
        if (own) of_job.emplace_back(key, value);
        state.put(key, value);
    }
    contracts::Supply supply = contracts::read_supply(state);
    const auto add = [](contracts::Amount& to, contracts::Amount more) { to = to.plus(more).value(); };
    const auto lock = [&](const PublicKey& node, contracts::Amount bond) {
        contracts::Stake stake = contracts::read_stake(state, node);
        add(stake.bonded, bond);
        add(supply.bonds, bond);
        add(supply.minted, bond);
        store(state, contracts::stake_key(node), stake);
    };
    const contracts::Job running = contracts::read_job(state, market.running).value();
    for (std::uint32_t n = 0; n < count; ++n) {
        const Hash256 name = contracts::test::bytes_of("running " + std::to_string(n));
        for (auto [key, value] : of_job) {
            replace_all(key, market.running, name);
            state.put(key, std::move(value));
        }
        contracts::Job job = running;
        job.id = name;
        contracts::Round round = contracts::read_round(state, name, job.round).value();
        round.phase_deadline = 1'000'000 + n;
        contracts::write_round(state, round);
        job.due = round.phase_deadline + 1;
        contracts::write_job(state, job);
        state.put(contracts::deadline_key({job.due, contracts::DueKind::kJob, name}), {});
        for (const auto& verifier : job.verifiers) lock(verifier.node, verifier.bond);
        for (const auto& member : job.beacon) {
            if (member.role != contracts::BeaconRole::kBuyer) {
                lock(member.node, member.bond);
                continue;
            }
            add(supply.escrow, member.bond);
            add(supply.minted, member.bond);
        }
        add(supply.escrow, job.escrow);
        add(supply.minted, job.escrow);
        for (const auto& [id, claim] : contracts::list_claims(state, name)) {
            lock(claim.node, claim.bond);
            add(supply.escrow, claim.held);
            add(supply.minted, claim.held);
        }
    }
    store(state, contracts::supply_key(), supply);
    contracts::Meta meta = contracts::read_meta(state);
    meta.active_jobs += count;
    store(state, contracts::meta_key(), meta);
    return state;
}

struct Cost {
    std::uint64_t reads = 0;  ///< records of the state
    StateTree::Hashed hashed;
    std::size_t changes = 0;
    std::size_t leaves = 0;
};

/// A block as the sequencer makes it and everybody else executes it, deadline included.
Cost cost_of_block(const MemoryState& state, std::uint64_t height, const std::vector<Bytes>& transactions) {
    REQUIRE(contracts::check_invariants(state).ok());
    StateTree tree = StateTree::build(state.all());
    const StateTree::Hashed before = tree.hashed();
    const CountingView counted(state);
    contracts::Overlay overlay(counted);
    const auto executed = execute_block(rules_machine(), overlay, {"test-chain", height}, transactions);
    REQUIRE(executed.ok());
    REQUIRE(executed->ok());
    (void)rules_machine().next_deadline(overlay);
    (void)tree.update(overlay.changes());
    return {counted.reads(),
            {tree.hashed().records - before.records, tree.hashed().nodes - before.nodes},
            overlay.changes().size(),
            state.all().size()};
}

std::vector<std::pair<std::string, Bytes>> blocks_of(PlayedMarket& market) {
    Env& env = market.env;
    return {
        {"nothing", {}},
        {"a transfer",
         env.sign(env.person("other"), contracts::Transfer{env.person("m3").owner_key(), base::units(5)})},
        {"a withdrawal",
         env.sign(env.person("m1"), contracts::StakeWithdraw{env.person("m1").node_key(), base::units(5)})},
        {"the end of a job", env.sign(env.person("buyer"), contracts::JobCancel{market.running})},
        {"a new job", env.sign(env.person("buyer"),
                               contracts::JobSubmit{contracts::test::small_job(),
                                                    env.person("buyer").node_key(), "127.0.0.1:7000",
                                                    contracts::chain_tip(env.person("buyer").secret, 3)})},
    };
}

}  // namespace

TEST_CASE("a block on a long history reads and hashes as many records as on a short one") {
    PlayedMarket market;
    Env& env = market.env;
    const auto blocks = blocks_of(market);
    const MemoryState small = with_history(market, 1'000);
    const MemoryState large = with_history(market, 10'000);
    for (const auto& [name, transaction] : blocks) {
        INFO(name);
        std::vector<Bytes> transactions;
        if (!transaction.empty()) transactions.push_back(transaction);
        const Cost few = cost_of_block(small, env.height() + 1, transactions);
        const Cost many = cost_of_block(large, env.height() + 1, transactions);
        CHECK(many.leaves > 9 * few.leaves);
        CHECK(few.reads == many.reads);
        CHECK(few.reads < 200);
        CHECK(few.hashed.records == many.hashed.records);
        CHECK(few.hashed.records <= few.changes);
        // One hash path for each change: the logarithm of the state, and a few where paths stay together.
        for (const Cost& cost : {few, many})
            CHECK(cost.hashed.nodes <= cost.changes * (std::bit_width(cost.leaves) + 8U));
    }
}

TEST_CASE("a thousand running jobs whose deadlines lie elsewhere cost a block nothing") {
    PlayedMarket market;
    const MemoryState few = with_running(market, 10);
    const MemoryState many = with_running(market, 1'000);
    for (const auto& [name, transaction] : blocks_of(market)) {
        INFO(name);
        std::vector<Bytes> transactions;
        if (!transaction.empty()) transactions.push_back(transaction);
        const Cost small = cost_of_block(few, market.env.height() + 1, transactions);
        const Cost large = cost_of_block(many, market.env.height() + 1, transactions);
        CHECK(small.reads == large.reads);
        CHECK(small.reads < 300);
        CHECK(small.changes == large.changes);
        CHECK(large.hashed.records <= large.changes);
    }
}

TEST_CASE("a block's beginning reads the job that is due at its height, and no other") {
    PlayedMarket market;
    const std::uint64_t due = contracts::read_job(market.env.whole(), market.running)->due;
    const auto reads = [&](std::uint32_t others, std::uint64_t height) {
        const MemoryState state = with_running(market, others);
        const CountingView counted(state);
        contracts::Overlay overlay(counted);
        begin_block(overlay, {"test-chain", height});
        const bool moved = contracts::read_job(overlay, market.running)->due != due;
        CHECK(moved == (height >= due));
        return counted.reads();
    };
    CHECK(reads(10, due - 1) == reads(1'000, due - 1));
    CHECK(reads(10, due - 1) < 40);
    CHECK(reads(10, due) == reads(1'000, due));
    CHECK(reads(10, due) > reads(10, due - 1));
}

}  // namespace assay::ledger
