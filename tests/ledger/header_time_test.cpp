// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/header_time.hpp"

#include <limits>

#include "ledger/audit/audit.hpp"
#include "ledger/engine/embedded.hpp"
#include "ledger/store/posix_disk.hpp"
#include "tests/ledger/toy_machine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

constexpr std::uint64_t kInterval = 80;

Genesis paced_genesis() {
    Genesis genesis = toy_genesis();
    genesis.block_interval_ms = kInterval;
    return genesis;
}

struct PacedClock final : EngineClock {
    std::uint64_t now = 1000;
    std::uint64_t wall = 1'700'000'000'000;
    std::uint64_t monotonic_ms() override { return now; }
    std::uint64_t wall_ms() override { return wall; }
};

struct PacedChain {
    PacedChain() : disk(faults), provider(faults) {
        ASSAY_CHECK(write_genesis(disk, Layout("home").genesis, paced_genesis()).ok());
        open();
    }
    void open() {
        chain.reset();
        chain = Chain::open(disk, provider, kMachine, "home").value();
    }
    Outcome<Appended> append(std::uint64_t nonce, std::uint64_t time_ms) {
        return chain->append({toy_transaction(1, nonce, 5)}, EmptyBlock::kSkip, time_ms, test_key());
    }
    Faults faults;
    FaultyDisk disk;
    MemoryProvider provider;
    std::unique_ptr<Chain> chain;
};

}  // namespace

TEST_CASE("a header's time is at least the block interval after its parent's, whatever the numbers are") {
    const Genesis genesis = paced_genesis();
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    const auto allowed = [&](std::uint64_t parent, std::uint64_t time) {
        Header header;
        header.height = 7;
        header.time_ms = time;
        const auto checked = check_header_time(header, genesis, parent);
        if (!checked) {
            CHECK(checked.error().kind == base::ErrorKind::kVerification);
            CHECK(checked.error().what.find("block 7: its time " + std::to_string(time)) == 0);
        }
        return checked.ok();
    };
    CHECK(allowed(1000, 1080));
    CHECK(allowed(1000, kMost));
    CHECK_FALSE(allowed(1000, 1079));
    CHECK_FALSE(allowed(1000, 1000));
    CHECK_FALSE(allowed(1000, 0));
    CHECK_FALSE(allowed(kMost, kMost));
    CHECK_FALSE(allowed(kMost - 79, 0));  // the sum of parent and interval would wrap to 0
    CHECK(allowed(kMost - 80, kMost));
    CHECK_FALSE(allowed(0, 79));  // block 1
    // What a proposer writes is allowed, whatever its clock says.
    for (const std::uint64_t parent : {std::uint64_t{0}, std::uint64_t{1000}, kMost - 80})
        for (const std::uint64_t wall : {std::uint64_t{0}, std::uint64_t{1001}, kMost})
            CHECK(allowed(parent, next_header_time(genesis, parent, wall)));
    CHECK(next_header_time(genesis, 1000, 5000) == 5000);
    CHECK(next_header_time(genesis, 1000, 900) == 1080);
}

TEST_CASE("a chain makes no block too early, changes nothing by the attempt, and knows it after a restart") {
    PacedChain paced;
    REQUIRE(paced.append(0, 5000));
    for (int life = 0; life < 2; ++life) {
        CHECK(paced.chain->time_ms() == 5000);
        const auto early = paced.append(1, 5079);
        REQUIRE_FALSE(early);
        CHECK(early.error().kind == base::ErrorKind::kVerification);
        CHECK_FALSE(paced.chain->stopped());
        CHECK(paced.chain->height() == 1);
        paced.open();
    }
    // The index gone: the time comes from the log.
    paced.chain.reset();
    paced.provider.values.clear();
    paced.open();
    CHECK(paced.chain->time_ms() == 5000);
    CHECK_FALSE(paced.append(1, 5079));
    REQUIRE(paced.append(1, 5080));
    CHECK(paced.chain->height() == 2);
}

TEST_CASE("an engine keeps the genesis' interval where its own is shorter, and its own where it is longer") {
    for (const auto& [own, kept] : {std::pair<std::uint64_t, std::uint64_t>{10, 80}, {200, 200}}) {
        PacedChain paced;
        PacedClock clock;
        const base::SecretKey key = test_key();
        EmbeddedOptions options;
        options.block_interval_ms = own;
        EmbeddedEngine engine(*paced.chain, key, clock, options);
        const auto submit = [&](std::uint64_t nonce) {
            engine.submit(toy_transaction(1, nonce, 5), [](const Outcome<Answer>& told) { REQUIRE(told); });
        };
        submit(0);
        REQUIRE(engine.tick());
        submit(1);
        clock.now += kept - 1;
        CHECK(engine.tick().value() == 1);
        CHECK(paced.chain->height() == 1);
        clock.now += 1;
        clock.wall -= 10'000;  // the wall clock jumps back: the chain goes on, and its times too
        REQUIRE(engine.tick());
        CHECK(paced.chain->height() == 2);
        CHECK(paced.chain->time_ms() == 1'700'000'000'000 + kInterval);
    }
}

TEST_CASE("blocks that were signed too close to each other are refused when they are executed again") {
    const test::TemporaryFolder folder;
    PosixDisk disk;
    // The same blocks are a chain under a genesis without an interval, and none under one with it.
    for (const std::uint64_t interval : {std::uint64_t{0}, kInterval}) {
        const std::string home = (folder / std::to_string(interval)).string();
        Genesis genesis = paced_genesis();
        genesis.block_interval_ms = interval;
        const Layout layout(home);
        REQUIRE(write_genesis(disk, layout.genesis, genesis));
        auto log = BlockLog::open(disk, layout.log, genesis.hash(), std::nullopt, {});
        REQUIRE(log);
        VerifiedState now = genesis_state(kMachine, genesis).value();
        for (std::uint64_t height = 1; height <= 2; ++height) {
            Block block;
            block.transactions = {toy_transaction(1, height - 1, 5)};
            contracts::Overlay overlay(now.state);
            const auto executed =
                execute_block(kMachine, overlay, Position{genesis.chain_id, height}, block.transactions);
            REQUIRE(executed);
            REQUIRE(*executed);
            (void)now.tree.update(overlay.changes());
            overlay.write_to(now.state);
            block.header = {kBlockVersion,
                            chain_hash(genesis.chain_id),
                            height,
                            now.tip,
                            transactions_root(block.transactions),
                            results_root(**executed),
                            now.tree.root(),
                            1000 + height,
                            test_key().public_key()};
            block.signature = sign_header(block.header, genesis.chain_id, test_key());
            now.tip = block.header.hash();
            REQUIRE((*log)->append(block));
        }
        const auto report = audit_ledger(kMachine, home, {});
        REQUIRE(report);
        Faults faults;
        MemoryProvider provider(faults);
        const auto opened = Chain::open(disk, provider, kMachine, home);
        if (interval == 0) {
            CHECK(report->failures.empty());
            CHECK(opened);
            continue;
        }
        REQUIRE(report->failures.size() == 1);
        CHECK(report->failures.front().what.find("its time 1002 is less than the block interval of 80 ms") !=
              std::string::npos);
        CHECK(report->height == 1);
        REQUIRE_FALSE(opened);
        CHECK(opened.error().what.find("block interval") != std::string::npos);
    }
}

TEST_CASE("a genesis names a block interval of a minute at most") {
    Genesis genesis = toy_genesis();
    genesis.block_interval_ms = kMaxBlockIntervalMs;
    CHECK(parse_genesis(genesis_file(genesis)).value().block_interval_ms == kMaxBlockIntervalMs);
    ++genesis.block_interval_ms;
    const auto refused = parse_genesis(genesis_file(genesis));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.find("block interval") != std::string::npos);
}
