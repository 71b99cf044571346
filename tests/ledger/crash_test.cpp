// SPDX-License-Identifier: Apache-2.0
// The crash campaign: a ledger is killed at every single call that changes the disk or the index, the machine
// forgets or tears what was not synced, and the next start must have every acknowledged block. A second crash
// hits the recovery itself.
#include <random>

#include "ledger/engine/chain.hpp"
#include "tests/ledger/toy_machine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

constexpr int kBlocks = 6;

struct Campaign {
    std::uint64_t runs = 0, lost = 0, torn = 0, recovery_crashes = 0;
};

// Starts the ledger and appends until `kBlocks` blocks or a failure. Returns the acknowledged header hashes
// by height.
std::map<std::uint64_t, Hash256> work(FaultyDisk& disk, MemoryProvider& provider,
                                      const ChainOptions& options) {
    std::map<std::uint64_t, Hash256> acknowledged;
    const base::SecretKey key = test_key();
    if (!write_genesis(disk, Layout("home").genesis, toy_genesis())) return acknowledged;
    auto chain = Chain::open(disk, provider, kMachine, "home", options);
    if (!chain) return acknowledged;
    while ((*chain)->height() < kBlocks) {
        const std::uint64_t nonce = (*chain)->height();
        const auto appended =
            (*chain)->append({toy_transaction(1, nonce, nonce + 5)}, EmptyBlock::kSkip, nonce, key);
        if (!appended) break;
        acknowledged[(*chain)->height()] = appended->block->hash;
    }
    return acknowledged;
}

void check_recovered(FaultyDisk& disk, MemoryProvider& provider,
                     const std::map<std::uint64_t, Hash256>& acknowledged, Campaign& campaign) {
    const auto chain = Chain::open(disk, provider, kMachine, "home");
    if (!chain) {
        // Nothing was acknowledged before the genesis file was durable.
        if (!acknowledged.empty()) ++campaign.lost;
        if (acknowledged.empty() && chain.error().kind != base::ErrorKind::kNotFound) {
            INFO(chain.error().what);
            CHECK(chain.error().what.find("genesis") != std::string::npos);
        }
        return;
    }
    if (!(*chain)->notes().empty()) ++campaign.torn;
    for (const auto& [height, hash] : acknowledged) {
        const auto block = (*chain)->block(height);
        if (!block || block->header.hash() != hash) ++campaign.lost;
    }
}

// Every crash point once, for one way of losing unsynced bytes.
Campaign run(Unsynced mode, Fault fault, const ChainOptions& options, std::uint64_t seed) {
    Campaign campaign;
    Faults count;
    {
        FaultyDisk disk(count);
        MemoryProvider provider(count);
        REQUIRE(work(disk, provider, options).size() == kBlocks);
    }
    std::mt19937_64 random(seed);
    for (std::uint64_t at = 1; at <= count.calls; ++at) {
        Faults faults;
        faults.at = at;
        faults.fault = fault;
        FaultyDisk disk(faults);
        MemoryProvider provider(faults);
        auto acknowledged = work(disk, provider, options);
        disk.crash(mode, random);
        faults.restart();
        // A crash during recovery, at a random one of its calls, and then work again.
        faults.at = faults.calls + 1 + random() % 6;
        const std::uint64_t before = faults.calls;
        for (auto& [height, hash] : work(disk, provider, options)) acknowledged[height] = hash;
        if (faults.dead && faults.calls > before) ++campaign.recovery_crashes;
        disk.crash(mode, random);
        faults.restart();
        ++campaign.runs;
        check_recovered(disk, provider, acknowledged, campaign);
    }
    return campaign;
}

}  // namespace

TEST_CASE("F6: no crash point loses an acknowledged block, and recovery survives crashes too") {
    Campaign all;
    std::uint64_t seed = 1;
    for (const Unsynced mode : {Unsynced::kKeep, Unsynced::kDrop, Unsynced::kTear, Unsynced::kGarbage}) {
        for (const Fault fault : {Fault::kKillBefore, Fault::kKillAfter}) {
            for (int repeat = 0; repeat < 5; ++repeat, ++seed) {
                const Campaign one = run(mode, fault, {}, seed);
                INFO("mode " << static_cast<int>(mode) << " seed " << seed);
                REQUIRE(one.lost == 0);
                all.runs += one.runs;
                all.torn += one.torn;
                all.recovery_crashes += one.recovery_crashes;
            }
        }
    }
    CAPTURE(all.runs, all.torn, all.recovery_crashes);
    CHECK(all.runs > 500);
    CHECK(all.torn > 0);
    CHECK(all.recovery_crashes > 100);
}

TEST_CASE("F6: the harness notices a ledger that acknowledges before it syncs") {
    ChainOptions options;
    options.log.sync_before_acknowledge = false;
    CHECK(run(Unsynced::kDrop, Fault::kKillBefore, options, 1).lost > 0);
    // As reliability measurements say: killing the process alone would never show it.
    CHECK(run(Unsynced::kKeep, Fault::kKillBefore, options, 1).lost == 0);
}

TEST_CASE("F5: the first failed write or sync stops the ledger, even when later ones would work") {
    for (const Fault fault : {Fault::kNoSpace, Fault::kIoError}) {
        Faults count;
        {
            FaultyDisk disk(count);
            MemoryProvider provider(count);
            REQUIRE(work(disk, provider, {}).size() == kBlocks);
        }
        for (std::uint64_t at = 1; at <= count.calls; ++at) {
            Faults faults;
            faults.at = at;
            faults.fault = fault;
            FaultyDisk disk(faults);
            MemoryProvider provider(faults);
            const base::SecretKey key = test_key();
            std::map<std::uint64_t, Hash256> acknowledged;
            if (write_genesis(disk, Layout("home").genesis, toy_genesis())) {
                auto chain = Chain::open(disk, provider, kMachine, "home");
                for (std::uint64_t n = 0; chain && n < 2 * kBlocks; ++n) {
                    const bool was_stopped = (*chain)->stopped();
                    const std::uint64_t nonce = (*chain)->height();
                    const auto appended =
                        (*chain)->append({toy_transaction(1, nonce, 5)}, EmptyBlock::kSkip, nonce, key);
                    if (was_stopped) REQUIRE_FALSE(appended.ok());
                    if (appended) acknowledged[(*chain)->height()] = appended->block->hash;
                }
                if (chain && (*chain)->height() < 2 * kBlocks) REQUIRE((*chain)->stopped());
            }
            std::mt19937_64 random(at);
            disk.crash(Unsynced::kTear, random);
            faults.restart();
            Campaign campaign;
            check_recovered(disk, provider, acknowledged, campaign);
            REQUIRE(campaign.lost == 0);
        }
    }
}

TEST_CASE("a disk below the free-space reserve refuses blocks, changes nothing, and works again when freed") {
    Faults faults;
    FaultyDisk disk(faults);
    MemoryProvider provider(faults);
    const base::SecretKey key = test_key();
    REQUIRE(write_genesis(disk, Layout("home").genesis, toy_genesis()));
    const auto chain = Chain::open(disk, provider, kMachine, "home");
    REQUIRE(chain);
    const Hash256 root = (*chain)->state_root();
    disk.set_free(1000);
    const auto refused = (*chain)->append({toy_transaction(1, 0, 5)}, EmptyBlock::kSkip, 1, key);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.find("in reserve") != std::string::npos);
    CHECK_FALSE((*chain)->stopped());
    CHECK((*chain)->state_root() == root);
    disk.set_free(1ULL << 40U);
    CHECK((*chain)->append({toy_transaction(1, 0, 5)}, EmptyBlock::kSkip, 1, key));
    CHECK((*chain)->height() == 1);
}
