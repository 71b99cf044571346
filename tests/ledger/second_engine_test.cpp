// SPDX-License-Identifier: Apache-2.0
// Two engines, one application: the blocks of the embedded engine, and of a whole job, through a scripted
// engine to the same roots, whenever that one is killed.
#include <algorithm>
#include <optional>
#include <random>

#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/engine/engines.hpp"
#include "ledger/store/certificate.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/ledger/scripted_engine.hpp"
#include "tests/ledger/toy_machine.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

using Blocks = std::vector<std::vector<Bytes>>;

struct Script {
    const StateMachine& machine;
    Genesis genesis;
    base::SecretKey key;  ///< of the embedded engine's validator
    Blocks blocks;
    std::map<std::uint64_t, Roots> roots;
};

/// A process of the embedded engine: opens its chain and makes of the script what is missing. The roots of
/// all its headers, or nothing when it was killed.
std::optional<std::map<std::uint64_t, Roots>> embed(const Script& script, FaultyDisk& disk,
                                                    MemoryProvider& provider) {
    if (!write_genesis(disk, Layout("home").genesis, script.genesis)) return std::nullopt;
    const auto opened = Chain::open(disk, provider, script.machine, "home");
    if (!opened) return std::nullopt;
    Chain& chain = **opened;
    while (chain.height() < script.blocks.size()) {
        const auto& transactions = script.blocks[chain.height()];
        const auto made = chain.append(transactions, EmptyBlock::kMake, 1, script.key);
        if (!made) return std::nullopt;
        REQUIRE(made->refused.empty());
        REQUIRE(made->block->results.transactions.size() == transactions.size());
    }
    std::map<std::uint64_t, Roots> roots;
    for (std::uint64_t height = 1; height <= chain.height(); ++height) {
        const auto block = chain.block(height);
        REQUIRE(block);
        roots[height] = {block->header.results_root, block->header.state_root};
    }
    return roots;
}

/// A clock that stands until it is set forward by one interval of blocks.
struct SteppedClock final : EngineClock {
    std::uint64_t now = 1000;
    std::uint64_t monotonic_ms() override { return now; }
    std::uint64_t wall_ms() override { return 1; }
};

/// Submits the transactions of one height and lets the engine make the block. False: it was killed.
bool make_block(LedgerEngine& engine, SteppedClock& clock, std::uint64_t interval_ms, const Script& script,
                std::map<std::uint64_t, Roots>& seen) {
    const std::uint64_t height = engine.application().info().height + 1;
    const auto& transactions = script.blocks[height - 1];
    std::size_t receipts = 0, errors = 0;
    for (const Bytes& transaction : transactions) {
        engine.submit(transaction, [&](const Outcome<Answer>& outcome) {
            if (!outcome) return void(++errors);
            REQUIRE(*outcome);
            CHECK((*outcome)->height == height);
            CHECK((*outcome)->index == receipts);
            ++receipts;
        });
    }
    const std::uint64_t subscriber = engine.subscribe([&](const Committed& block) {
        seen[block.header.height] = {block.header.results_root, block.header.state_root};
    });
    clock.now += interval_ms;
    const bool made = engine.tick().ok();
    engine.unsubscribe(subscriber);
    if (!made || errors > 0) return false;
    REQUIRE(receipts == transactions.size());
    REQUIRE(engine.application().info().height == height);
    return true;
}

/// A process of the node's engine "embedded", opened by name: submits what the script has above the last
/// block, height by height. The roots of all its headers, or nothing when it was killed.
std::optional<std::map<std::uint64_t, Roots>> embed_by_name(const Script& script, FaultyDisk& disk,
                                                            MemoryProvider& provider) {
    if (!write_genesis(disk, Layout("home").genesis, script.genesis)) return std::nullopt;
    SteppedClock clock;
    const EngineParts parts{.home = "home",
                            .disk = disk,
                            .provider = provider,
                            .machine = script.machine,
                            .key = script.key,
                            .clock = clock,
                            .log = {}};
    const auto opened = open_engine("embedded", parts);
    if (!opened) return std::nullopt;
    LedgerEngine& engine = **opened;
    std::map<std::uint64_t, Roots> seen;
    while (engine.application().info().height < script.blocks.size()) {
        if (!make_block(engine, clock, parts.block_interval_ms, script, seen)) return std::nullopt;
    }
    std::map<std::uint64_t, Roots> roots;
    for (std::uint64_t height = 1; height <= engine.application().info().height; ++height) {
        const auto block = engine.block(height);
        REQUIRE(block);
        roots[height] = {block->header.results_root, block->header.state_root};
    }
    CHECK(engine.application().info().app_hash == roots.rbegin()->second.app_hash);
    for (const auto& [height, told] : seen) CHECK(told == roots.at(height));
    return roots;
}

/// The same without a crash: what every engine must come to.
void embed(Script& script) {
    Faults faults;
    FaultyDisk disk(faults);
    MemoryProvider provider(faults);
    const auto roots = embed(script, disk, provider);
    REQUIRE(roots);
    script.roots = *roots;
}

/// Two senders, a deadline with empty blocks before it, and a block of many.
Script toy_script() {
    Script script{kMachine, toy_genesis(), test_key(), {}, {}};
    std::vector<Bytes> many;
    for (std::uint64_t nonce = 1; nonce < 20; ++nonce) many.push_back(toy_transaction(2, nonce, 100 + nonce));
    script.blocks = {{toy_transaction(1, 0, 5), toy_transaction(2, 0, 7)},
                     {toy_transaction(1, 1, kTimerValue)},
                     {},
                     {many},
                     {},
                     {toy_transaction(1, 2, 5)}};
    embed(script);
    return script;
}

/// A job of three rounds from its submission to its end.
Script job_script() {
    contracts::test::Env env;
    for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    const Hash256 job = env.post(contracts::test::small_job());
    env.hold_auction(job, {{"m1", 500}, {"m2", 600}, {"m3", 700}}, {"v1", "v2", "v3"});
    contracts::test::play_job(env, job);
    REQUIRE(env.job(job).phase == contracts::JobPhase::kEnded);
    env.next_block();  // its records leave
    Genesis genesis{.chain_id = env.chain(),
                    .validators = contracts::validators_of(env.configuration()),
                    .rules = base::encode(env.configuration())};
    Script script{
        rules_machine(), std::move(genesis), std::move(env.person("sequencer").node), env.blocks(), {}};
    embed(script);
    // The state that the rules' own language came to, without blocks.
    StateTree tree;
    for (const auto& [key, value] : env.state().scan({})) tree.put(key, value);
    REQUIRE(script.roots.at(env.height()).app_hash == tree.root());
    return script;
}

struct Campaign {
    std::uint64_t calls = 0, runs = 0, behind = 0;
};

/// Plays the script without a crash, and once for every point at which it can be killed.
Campaign play(const Script& script, Fault fault) {
    Campaign campaign;
    std::map<std::uint64_t, Roots> undisturbed;
    {
        Faults faults;
        MemoryProvider store(faults);
        ScriptedEngine engine(script.blocks, script.machine, script.genesis, store, faults);
        REQUIRE(engine.run());
        REQUIRE(engine.faults_found().empty());
        undisturbed = engine.roots();
        campaign.calls = faults.calls;
    }
    REQUIRE(undisturbed.size() == script.blocks.size());
    if (!script.roots.empty()) REQUIRE(undisturbed == script.roots);
    for (std::uint64_t at = 1; at <= campaign.calls; ++at) {
        Faults faults;
        faults.at = at;
        faults.fault = fault;
        MemoryProvider store(faults);
        ScriptedEngine engine(script.blocks, script.machine, script.genesis, store, faults);
        CAPTURE(at);
        REQUIRE_FALSE(engine.run());
        // The next process dies as well, one call into its work, if there is work left.
        faults.restart();
        faults.at = faults.calls + 1;
        const bool nothing_left = engine.run();
        faults.restart();
        if (!nothing_left) REQUIRE(engine.run());
        for (const std::string& found : engine.faults_found()) FAIL(found);
        REQUIRE(engine.roots() == undisturbed);
        campaign.behind += engine.restarts_behind();
        ++campaign.runs;
    }
    return campaign;
}

/// What a process of the embedded engine comes to: its chain alone, or all of it behind its interface.
using EmbeddedRun = std::optional<std::map<std::uint64_t, Roots>> (*)(const Script&, FaultyDisk&,
                                                                      MemoryProvider&);

/// The embedded engine with the same script, killed at every call that changes its disk or its store. The
/// machine goes down with it and tears what was not synced. Returns the number of these calls.
std::uint64_t play_embedded(const Script& script, Fault fault, EmbeddedRun process) {
    Faults count;
    {
        FaultyDisk disk(count);
        MemoryProvider provider(count);
        REQUIRE(process(script, disk, provider) == script.roots);
    }
    for (std::uint64_t at = 1; at <= count.calls; ++at) {
        CAPTURE(at);
        Faults faults;
        faults.at = at;
        faults.fault = fault;
        FaultyDisk disk(faults);
        MemoryProvider provider(faults);
        std::mt19937_64 random(at);
        REQUIRE_FALSE(process(script, disk, provider));
        disk.crash(Unsynced::kTear, random);
        faults.restart();
        // The next process dies as well, one call into its work, if there is work left.
        faults.at = faults.calls + 1;
        (void)process(script, disk, provider);
        disk.crash(Unsynced::kTear, random);
        faults.restart();
        REQUIRE(process(script, disk, provider) == script.roots);
    }
    return count.calls;
}

}  // namespace

TEST_CASE("a second engine that is killed at every call comes to the roots of the embedded one") {
    const Script script = toy_script();
    for (const Fault fault : {Fault::kKillBefore, Fault::kKillAfter}) {
        const Campaign campaign = play(script, fault);
        CAPTURE(campaign.calls, campaign.runs, campaign.behind);
        CHECK(campaign.runs == campaign.calls);
        CHECK(campaign.runs > 5 * script.blocks.size());
        CHECK(campaign.behind > script.blocks.size());  // killed between the decision and the commit
        CHECK(play_embedded(script, fault, embed_by_name) > 2 * script.blocks.size());
    }
}

TEST_CASE("a whole job through both engines, each killed at every call, comes to the same roots") {
    const Script script = job_script();
    REQUIRE(script.blocks.size() > 10);
    REQUIRE(script.roots.size() == script.blocks.size());
    for (const Fault fault : {Fault::kKillBefore, Fault::kKillAfter}) {
        const Campaign campaign = play(script, fault);
        CHECK(campaign.runs == campaign.calls);
        CHECK(play_embedded(script, fault, embed) > 2 * script.blocks.size());
    }
}

TEST_CASE("a set of equal validators, none of whom decides alone, comes to the roots of one validator") {
    Script script = toy_script();
    script.genesis.validators.validators.clear();
    for (std::uint8_t seed = 1; seed <= 4; ++seed)
        script.genesis.validators.validators.push_back({test_key(seed).public_key(), 1});
    auto& all = script.genesis.validators.validators;
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    // The engine's votes make its blocks count; no block log could hold them.
    REQUIRE_FALSE(check_served(script.genesis.validators));
    const Campaign campaign = play(script, Fault::kKillAfter);
    CHECK(campaign.runs == campaign.calls);
}

TEST_CASE("the rules of a chain of four equal validators execute under the second engine") {
    contracts::GenesisConfig config;
    config.chain_id = test::kChainId;
    config.balances = {{test::key_of("alice").public_key(), test::tokens(1000)}};
    for (const std::string name : {"a", "b", "c", "d"})
        config.validators.push_back(
            {test::key_of(name + "'s owner").public_key(), test::key_of(name).public_key()});
    std::sort(config.validators.begin(), config.validators.end(),
              [](const auto& a, const auto& b) { return a.node < b.node; });
    const Genesis genesis{.chain_id = config.chain_id,
                          .validators = contracts::validators_of(config),
                          .rules = base::encode(config)};
    const Script script{rules_machine(),
                        genesis,
                        test_key(),
                        {{test::transfer(0), test::transfer(1)}, {}, {test::transfer(2)}},
                        {}};
    const Campaign campaign = play(script, Fault::kKillBefore);
    CHECK(campaign.runs == campaign.calls);
}
