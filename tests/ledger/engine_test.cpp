// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine/embedded.hpp"

#include <limits>

#include "ledger/engine/believed_clock.hpp"
#include "ledger/engine/engines.hpp"
#include "ledger/store/certificate.hpp"
#include "ledger/store/header_time.hpp"
#include "tests/ledger/toy_machine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

using contracts::Reason;

struct ManualClock final : EngineClock {
    std::uint64_t now = 1000;
    std::uint64_t wall = 1'700'000'000'000;
    std::uint64_t monotonic_ms() override { return now; }
    std::uint64_t wall_ms() override { return wall; }
};

struct Bench {
    explicit Bench(EmbeddedOptions options = {}) : disk(faults), provider(faults), key(test_key()) {
        ASSAY_CHECK(write_genesis(disk, Layout("home").genesis, toy_genesis()).ok());
        chain = Chain::open(disk, provider, kMachine, "home").value();
        engine = std::make_unique<EmbeddedEngine>(*chain, key, clock, options);
    }
    void submit(Bytes transaction) {
        engine->submit(std::move(transaction), [this](const Outcome<Answer>& outcome) {
            if (!outcome) {
                errors.push_back(outcome.error());
            } else if (*outcome) {
                receipts.push_back(**outcome);
            } else {
                refusals.push_back(outcome->error());
            }
        });
    }
    Faults faults;
    FaultyDisk disk;
    MemoryProvider provider;
    base::SecretKey key;
    ManualClock clock;
    std::unique_ptr<Chain> chain;
    std::unique_ptr<EmbeddedEngine> engine;
    std::vector<Receipt> receipts;
    std::vector<Reason> refusals;
    std::vector<base::Error> errors;
};

}  // namespace

TEST_CASE("a submitter gets a signed receipt after the block is on disk, and not before") {
    Bench bench;
    bench.submit(toy_transaction(1, 0, 5));
    CHECK(bench.receipts.empty());
    CHECK(bench.engine->pending() == 1);
    REQUIRE(bench.engine->tick());
    REQUIRE(bench.receipts.size() == 1);
    const Receipt& receipt = bench.receipts[0];
    CHECK(receipt.height == 1);
    CHECK(receipt.index == 0);
    CHECK(receipt.header == bench.chain->tip());
    CHECK(verify_receipt(receipt, "toy-1", bench.chain->genesis().validators));
    CHECK_FALSE(verify_receipt(receipt, "toy-2", bench.chain->genesis().validators));
    Receipt bent = receipt;
    bent.height = 2;
    CHECK_FALSE(verify_receipt(bent, "toy-1", bench.chain->genesis().validators));
}

TEST_CASE("submitting an included transaction again gives the same receipt") {
    Bench bench;
    bench.submit(toy_transaction(1, 0, 5));
    REQUIRE(bench.engine->tick());
    bench.submit(toy_transaction(1, 0, 5));
    REQUIRE(bench.receipts.size() == 2);
    CHECK(base::encode(bench.receipts[0]) == base::encode(bench.receipts[1]));
}

TEST_CASE("nonces are strict: no gap, no repetition, several of one sender in order") {
    Bench bench;
    bench.submit(toy_transaction(1, 1, 5));
    CHECK(bench.refusals == std::vector{Reason::kNonceGap});
    bench.submit(toy_transaction(1, 0, 5));
    bench.submit(toy_transaction(1, 0, 6));
    bench.submit(toy_transaction(1, 0, 5));
    CHECK(bench.refusals == std::vector{Reason::kNonceGap, Reason::kNonceWaiting, Reason::kNonceWaiting});
    bench.submit(toy_transaction(1, 1, 5));
    bench.submit(toy_transaction(1, 2, 5));
    REQUIRE(bench.engine->tick());
    CHECK(bench.receipts.size() == 3);
    CHECK(bench.chain->height() == 1);
    bench.submit(toy_transaction(1, 2, 6));
    CHECK(bench.refusals.back() == Reason::kNonceUsed);
    bench.submit(Bytes{1, 2, 3});
    CHECK(bench.refusals.back() == Reason::kMalformed);
    CHECK(bench.errors.empty());
}

TEST_CASE("a transaction that the rules refuse is answered with the reason and makes no block") {
    Bench bench;
    bench.submit(toy_transaction(1, 0, kRefusedValue));
    REQUIRE(bench.engine->tick());
    CHECK(bench.refusals == std::vector{static_cast<Reason>(7)});
    CHECK(bench.chain->height() == 0);
}

TEST_CASE("blocks keep their distance, and the engine says when it wants to be called") {
    EmbeddedOptions options;
    options.block_interval_ms = 100;
    Bench bench(options);
    CHECK_FALSE(bench.engine->tick().value());
    bench.submit(toy_transaction(1, 0, 5));
    REQUIRE(bench.engine->tick());
    bench.submit(toy_transaction(1, 1, 5));
    bench.clock.now += 40;
    CHECK(bench.engine->tick().value() == 60);
    CHECK(bench.chain->height() == 1);
    bench.clock.now += 60;
    CHECK_FALSE(bench.engine->tick().value());
    CHECK(bench.chain->height() == 2);
}

TEST_CASE("empty blocks are made while a deadline is pending, and stop after it") {
    Bench bench;
    bench.submit(toy_transaction(1, 0, kTimerValue));
    std::vector<std::size_t> events;
    const std::uint64_t id = bench.engine->subscribe(
        [&](const Committed& block) { events.push_back(block.results.begin_events.size()); });
    for (int i = 0; i < 10; ++i, bench.clock.now += 1000) REQUIRE(bench.engine->tick());
    CHECK(bench.chain->height() == 4);
    CHECK(events == std::vector<std::size_t>{0, 0, 0, 1});
    bench.engine->unsubscribe(id);
    bench.submit(toy_transaction(1, 1, 5));
    REQUIRE(bench.engine->tick());
    CHECK(events.size() == 4);
}

TEST_CASE("a clock that jumps back neither stops blocks nor moves header times back") {
    Bench bench;
    bench.submit(toy_transaction(1, 0, 5));
    REQUIRE(bench.engine->tick());
    bench.clock.wall -= kProposedAheadMs;
    bench.clock.now += 1000;
    bench.submit(toy_transaction(1, 1, 5));
    REQUIRE(bench.engine->tick());
    CHECK(bench.chain->block(2)->header.time_ms >= bench.chain->block(1)->header.time_ms);
    CHECK(bench.engine->held_up().empty());
}

TEST_CASE("an engine whose disk has no room says so until a block is stored again") {
    Bench bench;
    bench.submit(toy_transaction(1, 0, 5));
    bench.disk.set_free(0);
    REQUIRE(bench.engine->tick());
    REQUIRE(bench.errors.size() == 1);
    CHECK(bench.chain->height() == 0);
    CHECK(bench.engine->held_up().find(bench.errors[0].what) != std::string::npos);
    bench.disk.set_free(1ULL << 40U);
    bench.clock.now += 1000;
    REQUIRE(bench.engine->tick());
    CHECK_FALSE(bench.engine->held_up().empty());  // nothing was to be stored since
    bench.submit(toy_transaction(1, 7, 5));        // refused by its nonce
    bench.clock.now += 1000;
    REQUIRE(bench.engine->tick());
    CHECK_FALSE(bench.engine->held_up().empty());
    // The clock's cause is told first: it is what holds the next block up.
    bench.clock.now += 1000;
    bench.submit(toy_transaction(1, 0, 5));
    REQUIRE(bench.engine->tick());
    CHECK(bench.chain->height() == 1);
    CHECK(bench.engine->held_up().empty());
}

TEST_CASE("a clock that jumps back far is waited for: heights do not go by at times that no role follows") {
    Bench bench;
    bench.submit(toy_transaction(1, 0, 5));
    REQUIRE(bench.engine->tick());
    const std::uint64_t time = bench.chain->block(1)->header.time_ms;
    bench.clock.wall -= 3'600'000;
    bench.clock.now += 1000;
    CHECK(bench.engine->held_up().empty());  // nothing is to be done
    bench.submit(toy_transaction(1, 1, 5));
    CHECK(bench.engine->tick().value() == 1'000);
    CHECK(bench.chain->height() == 1);
    CHECK(bench.engine->held_up().find(std::to_string(time)) != std::string::npos);
    bench.clock.now += 1000;
    bench.clock.wall = time - kProposedAheadMs - 1;
    CHECK(bench.engine->tick().value() == 1);
    bench.clock.wall += 1;
    REQUIRE(bench.engine->tick());
    CHECK(bench.chain->height() == 2);
    CHECK(bench.engine->held_up().empty());
}

namespace {

constexpr std::uint64_t kSecondMs = 1'000, kHourMs = 3'600'000, kYearMs = 365 * 24 * kHourMs;

/// An engine with a block and a transaction that waits, whose two clocks go on together from here on.
struct ClockBench : Bench {
    ClockBench() {
        submit(toy_transaction(1, 0, 5));
        REQUIRE(engine->tick());
        submit(toy_transaction(1, 1, 5));
    }
    void pass(std::uint64_t ms) {
        clock.now += ms;
        clock.wall += ms;
    }
    /// Whether a look makes the block that waits, or is held up by a clock that is not believed.
    bool makes_block() {
        REQUIRE(engine->tick());
        const bool held = engine->held_up().find("clock is not believed") != std::string::npos;
        CHECK(held == (chain->height() == 1));
        return chain->height() == 2;
    }
};

}  // namespace

TEST_CASE("one wrong reading of the wall clock is in no header, however far ahead it is") {
    for (const std::uint64_t ahead : {kClockGainMs + 1, kHourMs, 10 * kYearMs}) {
        CAPTURE(ahead);
        ClockBench bench;
        bench.pass(kSecondMs);
        bench.clock.wall += ahead;
        CHECK_FALSE(bench.makes_block());
        CHECK(bench.engine->tick().value() == kSecondMs);
        bench.clock.wall -= ahead;
        CHECK(bench.makes_block());
        CHECK(bench.chain->time_ms() == bench.clock.wall);
    }
}

TEST_CASE("a clock that gains a little, or an idle chain, holds nothing up") {
    ClockBench bench;
    bench.pass(kSecondMs);
    bench.clock.wall += kClockGainMs;
    CHECK(bench.makes_block());
    bench.pass(3 * kYearMs);
    bench.submit(toy_transaction(1, 2, 5));
    REQUIRE(bench.engine->tick());
    CHECK(bench.chain->height() == 3);
    CHECK(bench.chain->time_ms() == bench.clock.wall);
}

TEST_CASE("a jump that the clock keeps is believed after as long as it is, or ten minutes") {
    for (const auto& [jump, wait] :
         {std::pair{20 * kSecondMs, 20 * kSecondMs}, {kHourMs, kJumpKeptMs}, {kYearMs / 2, kJumpKeptMs}}) {
        CAPTURE(jump);
        ClockBench bench;
        bench.pass(kSecondMs);
        bench.clock.wall += jump;
        CHECK_FALSE(bench.makes_block());
        bench.pass(wait - 1);
        CHECK_FALSE(bench.makes_block());
        bench.pass(1);
        CHECK(bench.makes_block());
        CHECK(bench.chain->time_ms() == bench.clock.wall);
    }
}

TEST_CASE("a clock that jumps on is waited for anew, and a year ahead is never believed") {
    ClockBench bench;
    bench.pass(kSecondMs);
    bench.clock.wall += kHourMs;
    CHECK_FALSE(bench.makes_block());
    bench.pass(kJumpKeptMs / 2);
    bench.clock.wall += kHourMs;
    CHECK_FALSE(bench.makes_block());
    bench.pass(kJumpKeptMs - 1);
    CHECK_FALSE(bench.makes_block());
    bench.clock.wall += kFarClockMs;
    for (int day = 0; day < 30; ++day) {
        bench.pass(24 * kHourMs);
        CHECK_FALSE(bench.makes_block());
    }
    CHECK(bench.engine->held_up().find("--accept-clock") != std::string::npos);
    bench.clock.wall -= kFarClockMs + 2 * kHourMs;
    CHECK(bench.makes_block());
}

TEST_CASE("a clock that was behind the chain and is set right is measured by the last header") {
    ClockBench bench;
    const std::uint64_t time = bench.chain->time_ms();
    bench.pass(kSecondMs);
    bench.clock.wall = 0;  // a machine without a battery
    REQUIRE(bench.engine->tick());
    CHECK(bench.chain->height() == 1);
    bench.pass(kSecondMs);
    bench.clock.wall = time + 2 * kSecondMs;
    CHECK(bench.makes_block());
}

TEST_CASE("an engine opens months after its last block, and a year after it on its operator's word alone") {
    Faults faults;
    FaultyDisk disk(faults);
    MemoryProvider provider(faults);
    ManualClock clock;
    const base::SecretKey key = test_key();
    REQUIRE(write_genesis(disk, Layout("home").genesis, toy_genesis()));
    EngineParts parts{"home", disk, provider, kMachine, key, clock, 100, {}};
    const auto made = [&](std::uint64_t nonce) {
        auto engine = open_engine("embedded", parts);
        if (!engine) return engine.error().what;
        (*engine)->submit(toy_transaction(1, nonce, 5), [](const Outcome<Answer>&) {});
        REQUIRE((*engine)->tick());
        CHECK((*engine)->application().info().height == nonce + 1);
        return std::string();
    };
    CHECK(made(0).empty());
    clock.wall += kFarClockMs;
    CHECK(made(1).empty());
    clock.wall += kFarClockMs + 1;
    const auto before = provider.values;
    const Bytes log = disk.bytes(Layout("home").log);
    CHECK(made(2).find("366 days after block 2") != std::string::npos);
    CHECK(open_engine("embedded", parts).error().kind == base::ErrorKind::kUsage);
    CHECK(open_engine("embedded", parts).error().fix.find("--accept-clock") != std::string::npos);
    CHECK(provider.values == before);
    CHECK(disk.bytes(Layout("home").log) == log);
    parts.accepts_far_clock = true;
    CHECK(made(2).empty());
    parts.accepts_far_clock = false;
    CHECK(made(3).empty());
}

TEST_CASE("a wall clock before 1970 shows 1970, and no time of the far future") {
    CHECK(unix_ms(-1) == 0);
    CHECK(unix_ms(std::numeric_limits<std::int64_t>::min()) == 0);
    CHECK(unix_ms(1'700'000'000'000) == 1'700'000'000'000);
}

TEST_CASE("the mempool is bounded in number, per sender and in bytes") {
    EmbeddedOptions options;
    options.mempool.max_transactions = 5;
    options.mempool.max_per_sender = 2;
    options.mempool.max_transaction_bytes = 100;
    Bench bench(options);
    for (std::uint64_t nonce = 0; nonce < 3; ++nonce) bench.submit(toy_transaction(1, nonce, 5));
    CHECK(bench.refusals == std::vector{Reason::kSenderBusy});
    for (std::uint8_t sender = 2; sender < 6; ++sender) bench.submit(toy_transaction(sender, 0, 5));
    CHECK(bench.engine->pending() == 5);
    CHECK(bench.refusals == std::vector{Reason::kSenderBusy, Reason::kNodeBusy});
}

TEST_CASE("a transaction above the mempool's size is refused as too large") {
    EmbeddedOptions options;
    options.mempool.max_transaction_bytes = 10;
    Bench bench(options);
    bench.submit(toy_transaction(1, 0, 5));
    CHECK(bench.refusals == std::vector{Reason::kTooLarge});
}

TEST_CASE("keys that the state does not know take no room in the mempool, however many there are") {
    EmbeddedOptions options;
    options.mempool.max_transactions = 5;
    Bench bench(options);
    for (std::uint8_t i = 0; i < 100; ++i) {
        ToyTransaction tx{{}, 0, 5};
        tx.sender.bytes.fill(i);
        tx.sender.bytes[0] = kStranger;
        bench.submit(base::encode(tx));
    }
    CHECK(bench.engine->pending() == 0);
    CHECK(bench.refusals == std::vector(100, Reason::kUnknownSender));
    bench.submit(toy_transaction(1, 0, 5));
    REQUIRE(bench.engine->tick());
    CHECK(bench.receipts.size() == 1);
}

TEST_CASE("one sender's transactions take a share of the mempool's bytes and no more") {
    EmbeddedOptions options;
    options.mempool.max_bytes = 400;
    options.mempool.max_bytes_per_sender = 100;  // two transactions of 48 bytes
    Bench bench(options);
    for (std::uint64_t nonce = 0; nonce < 9; ++nonce) bench.submit(toy_transaction(1, nonce, 5));
    CHECK(bench.engine->pending() == 2);
    bench.submit(toy_transaction(2, 0, 5));
    CHECK(bench.engine->pending() == 3);
    REQUIRE(bench.engine->tick());
    CHECK(bench.receipts.size() == 3);
    bench.clock.now += 1000;
    // What went into a block makes room again.
    bench.submit(toy_transaction(1, 2, 5));
    CHECK(bench.engine->pending() == 1);
}

TEST_CASE("after a failed write every submitter is told, and the engine asks to end the process") {
    Bench bench;
    bench.submit(toy_transaction(1, 0, 5));
    bench.faults.at = bench.faults.calls + 1;
    bench.faults.fault = Fault::kNoSpace;
    CHECK_FALSE(bench.engine->tick());
    REQUIRE(bench.errors.size() == 1);
    bench.submit(toy_transaction(1, 0, 5));
    CHECK(bench.errors.size() == 2);
    CHECK(bench.receipts.empty());
    bench.clock.now += 1000;
    CHECK(bench.chain->stopped());
}

TEST_CASE("a full disk refuses transactions without stopping the node") {
    Bench bench;
    bench.disk.set_free(10);
    bench.submit(toy_transaction(1, 0, 5));
    REQUIRE(bench.engine->tick());
    REQUIRE(bench.errors.size() == 1);
    bench.disk.set_free(1ULL << 40U);
    bench.clock.now += 1000;
    bench.submit(toy_transaction(1, 0, 5));
    REQUIRE(bench.engine->tick());
    CHECK(bench.receipts.size() == 1);
}

TEST_CASE("what finds no room in a block waits for the next one, and nobody is forgotten") {
    Bench bench;
    bench.submit(toy_transaction(1, 0, kToyLimit - 1));
    bench.submit(toy_transaction(2, 0, kToyLimit));
    bench.submit(toy_transaction(3, 0, 5));
    bench.submit(toy_transaction(4, 0, kToyLimit + 1));
    CHECK(bench.refusals == std::vector{Reason::kTooCostly});
    CHECK(bench.engine->pending() == 3);
    for (std::uint64_t block = 1; block <= 3; ++block, bench.clock.now += 1000) {
        REQUIRE(bench.engine->tick());
        CHECK(bench.chain->height() == block);
        CHECK(bench.engine->pending() == 3 - block);
    }
    REQUIRE(bench.receipts.size() == 3);
    CHECK(bench.receipts[1].height == 2);
    CHECK(bench.receipts[2].height == 3);
    CHECK(bench.errors.empty());
}

TEST_CASE("an engine is opened by its name, and a name, a key or a set that it does not know is refused") {
    Faults faults;
    FaultyDisk disk(faults);
    MemoryProvider provider(faults);
    ManualClock clock;
    const base::SecretKey key = test_key();
    const base::SecretKey stranger = test_key(9);
    REQUIRE(write_genesis(disk, Layout("home").genesis, toy_genesis()));
    const auto parts = [&](const base::SecretKey& of) {
        return EngineParts{"home", disk, provider, kMachine, of, clock, 100, {}};
    };
    const auto unknown = open_engine("raft", parts(key));
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().kind == base::ErrorKind::kPreflight);
    CHECK(unknown.error().what == "engine 'raft' is not there: this build has embedded");
    const auto locked_out = open_engine("embedded", parts(stranger));
    REQUIRE_FALSE(locked_out);
    CHECK(locked_out.error().kind == base::ErrorKind::kKey);
    CHECK_FALSE(provider.values.empty());  // opening it begins the chain

    const auto engine = open_engine("embedded", parts(key)).value();
    CHECK(engine->validator() == key.public_key());
    CHECK(engine->genesis().hash() == toy_genesis().hash());
    std::vector<std::uint64_t> seen;
    engine->subscribe([&](const Committed& block) { seen.push_back(block.header.height); });
    std::optional<Receipt> receipt;
    engine->submit(toy_transaction(1, 0, 5),
                   [&](const Outcome<Answer>& answer) { receipt = answer->value(); });
    REQUIRE(engine->tick());
    REQUIRE(receipt);
    CHECK(seen == std::vector<std::uint64_t>{1});
    CHECK(engine->application().info().height == 1);
    CHECK(engine->block(1)->header.hash() == receipt->header);
    CHECK(engine->results(1)->transactions.size() == 1);
    CHECK(engine->block(2).error().kind == base::ErrorKind::kNotFound);
}

TEST_CASE("a block of a version that no kind of certificate has is refused by name") {
    CHECK(certificate_kind(kBlockVersion)->engine == "embedded");
    CHECK(certificate_kind(kBlockVersion + 1) == nullptr);
    Block block;
    block.header.version = kBlockVersion + 1;
    const auto refused =
        check_block(block, "toy-1", 1, {}, contracts::ValidatorSet::of_one(test_key().public_key()));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == base::ErrorKind::kVerification);
    CHECK(refused.error().what.find("version 2, which this build does not know") != std::string::npos);
}
