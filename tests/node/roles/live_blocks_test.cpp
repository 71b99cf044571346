// SPDX-License-Identifier: Apache-2.0
// What a role does about blocks whose times are not its clock's: as a law of numbers, and as a role.
#include "node/roles/live_blocks.hpp"

#include <limits>

#include "node/processes/store_files.hpp"
#include "node/roles/following_role.hpp"
#include "tests/node/memory_ledger.hpp"
#include "tests/node/roles/quiet_ports.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

constexpr std::uint64_t kNoon = 1'700'000'000'000;

/// A machine with two clocks, and the law.
struct TwoClocks {
    LiveBlocks live;
    RoleTime now{5'000, kNoon};
    std::uint64_t height = 0;

    void pass(std::uint64_t ms) {
        now.mono_ms += ms;
        now.wall_ms += ms;
    }
    [[nodiscard]] std::optional<NotYet> judge(std::uint64_t time) const {
        return live.judge(height + 1, time, now);
    }
    bool follow(std::uint64_t time) {
        if (judge(time)) return false;
        live.followed(time, now);
        ++height;
        return true;
    }
};

struct ResumedSubscription final : LedgerPort {
    void submit(RequestId, Bytes) override {}
    void get(RequestId, Bytes) override {}
    void scan(RequestId, Bytes) override {}
    void subscribe(std::uint64_t from_height) override { from = from_height; }
    void subscribe_again(std::uint64_t from_height, std::uint64_t delay_ms) override {
        from = from_height;
        delays.push_back(delay_ms);
    }
    std::uint64_t from = 0;
    std::vector<std::uint64_t> delays;
};

struct ConstantBytes final : Random {
    void fill(std::span<std::uint8_t>) override {}
};

class ClockedRole final : public FollowingRole {
public:
    using FollowingRole::FollowingRole;
    using FollowingRole::height;
    int plans = 0;

private:
    void plan() override { ++plans; }
};

/// A role that follows a chain whose times the test writes, under clocks that it sets.
struct ClockedLife {
    ClockedLife() {
        clock.now = 5'000'000'000;
        clock.wall = static_cast<std::int64_t>(kNoon);
        parts.emplace(
            RoleParts{.seams = {clock, random, timers, port, blobs, disk, worker, log},
                      .files = *files,
                      .genesis = genesis,
                      .node_key = key,
                      .endpoint = "127.0.0.1:2",
                      .start_height = 0,
                      .finish = [this](std::optional<base::Error> why) { ended = std::move(why); }});
        role.emplace(*parts);
        role->step(Started{});
    }
    void make(std::uint64_t time) {
        ledger.time = time - 1;
        ledger.extend_by(1);
    }
    void pass(std::uint64_t ms) {
        clock.now += ms * 1'000'000;
        clock.wall += static_cast<std::int64_t>(ms);
    }
    void give(std::uint64_t height) { role->step(BlockSeen{height, ledger.block(height)}); }

    test::MemoryLedger ledger;
    const ledger::Genesis genesis = test::small_genesis();
    const base::SecretKey key = test::key_of("alice's node");
    test::TemporaryFolder folder;
    std::unique_ptr<BlobStore> store =
        BlobStore::open({.folder = folder / "blobs", .free_bytes_min = 0}).value();
    std::unique_ptr<BlobFiles> files = make_blob_files(*store);
    test::HandClock clock;
    ConstantBytes random;
    test::NoTimers timers;
    ResumedSubscription port;
    test::NoBlobs blobs;
    test::NoDisk disk;
    test::NoWorker worker;
    test::KeptLog log;
    std::optional<base::Error> ended;
    std::optional<RoleParts> parts;
    std::optional<ClockedRole> role;
};

}  // namespace

TEST_CASE("a block that is ahead of the clock is followed when the clock has come near, not before") {
    TwoClocks t;
    CHECK(t.follow(kNoon + kLiveWithinMs));
    const auto held = t.judge(kNoon + kLiveWithinMs + 2'000);
    REQUIRE(held.has_value());
    CHECK(held->ask_in_ms == 2'000);
    CHECK(held->why.find(std::to_string(kNoon)) != std::string::npos);
    CHECK(held->why.find(std::to_string(kNoon + kLiveWithinMs + 2'000)) != std::string::npos);
    CHECK(held->why.find("32.0 s ahead of") != std::string::npos);
    t.pass(1'999);
    CHECK_FALSE(t.follow(kNoon + kLiveWithinMs + 2'000));
    t.pass(1);
    CHECK(t.follow(kNoon + kLiveWithinMs + 2'000));
}

TEST_CASE("it is asked for again now and then however far ahead it is: the clock may be put right") {
    TwoClocks t;
    for (const std::uint64_t time : {kNoon + 3'600'000, std::numeric_limits<std::uint64_t>::max()}) {
        REQUIRE(t.judge(time).has_value());
        CHECK(t.judge(time)->ask_in_ms == kAskAgainMs);
    }
    t.now.wall_ms += 3'600'000;
    CHECK(t.follow(kNoon + 3'600'000));
}

TEST_CASE("a whole chain of old blocks is followed at once, and so is a role's first live one") {
    TwoClocks t;
    for (std::uint64_t time = 0; time < kNoon; time += kNoon / 100) CHECK(t.follow(time));
    CHECK(t.follow(kNoon));
}

TEST_CASE("heights cannot be raced: a role follows no more of them than its clock has time for") {
    // The attacker makes blocks at once, an interval apart as the genesis wants it, and starts its
    // subscriptions anew as often as it likes.
    constexpr std::uint64_t kIntervalMs = 1'000;
    TwoClocks t;
    REQUIRE(t.follow(kNoon));
    std::uint64_t time = kNoon;
    for (std::uint64_t second = 0; second < 600; ++second, t.pass(1'000)) {
        while (t.follow(time + kIntervalMs)) time += kIntervalMs;
        CHECK(t.height <= 1 + second + kLiveWithinMs / kIntervalMs);
    }
}

TEST_CASE("a block that is behind is put off where its parent came live, and no longer than that lasts") {
    TwoClocks t;
    REQUIRE(t.follow(kNoon - 25'000));
    t.pass(10'000);
    const std::uint64_t late = kNoon - 25'000 + 1;
    const auto held = t.judge(late);
    REQUIRE(held.has_value());
    CHECK(held->ask_in_ms == kAskAgainMs);
    CHECK(held->why.find("34.9 s behind") != std::string::npos);
    t.pass(19'999);
    CHECK(t.judge(late)->ask_in_ms == 1);
    t.pass(1);
    CHECK(t.follow(late));
    // It came as an old one: those behind it are not judged until one is near the clock again.
    CHECK(t.follow(late + 1));
}

TEST_CASE("a chain that was paused, a laptop that woke and a clock that is put forward go on at once") {
    TwoClocks paused;
    REQUIRE(paused.follow(kNoon));
    paused.pass(3'600'000);
    CHECK(paused.follow(kNoon + 100));  // the block that was made before the pause was seen
    CHECK(paused.follow(paused.now.wall_ms));

    TwoClocks woken;
    REQUIRE(woken.follow(kNoon));
    woken.now.wall_ms += 3'600'000;  // the monotonic clock slept too
    for (std::uint64_t i = 1; i < 3'600; ++i) CHECK(woken.follow(kNoon + i * 1'000));
    CHECK(woken.follow(woken.now.wall_ms));
}

TEST_CASE("a role puts off a block from the future, says so once, and asks again until it is followed") {
    ClockedLife life;
    life.make(kNoon);
    life.make(kNoon + 40'000);
    life.make(kNoon + 40'001);
    life.give(1);
    CHECK(life.role->height() == 1);
    life.give(2);
    CHECK(life.role->height() == 1);
    CHECK(life.port.from == 2);
    CHECK(life.port.delays == std::vector<std::uint64_t>{kAskAgainMs});
    // It was under way already: it comes again behind the one that is put off.
    life.give(3);
    CHECK(life.role->height() == 1);
    life.pass(kAskAgainMs);
    life.give(2);
    CHECK(life.port.delays.size() == 2);
    CHECK(life.log.lines_with("is not followed yet") == 1);
    life.pass(10'001 - kAskAgainMs);
    life.give(2);
    life.give(3);
    CHECK(life.role->height() == 3);
    CHECK_FALSE(life.ended.has_value());
    CHECK(life.port.delays.size() == 2);
    CHECK(life.log.lines_with("block 2 is followed now") == 1);
}

TEST_CASE("a block that is put off may be replaced by another one, and is judged by what it says then") {
    ClockedLife life;
    life.make(kNoon + 31'000);
    life.give(1);
    REQUIRE(life.role->height() == 0);
    test::MemoryLedger other;
    other.time = kNoon - 1;
    other.extend_by(1);
    life.role->step(BlockSeen{1, other.block(1)});
    CHECK(life.role->height() == 1);
    CHECK_FALSE(life.ended.has_value());
}

}  // namespace assay::node
