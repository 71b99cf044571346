// SPDX-License-Identifier: Apache-2.0
// The real ledger port before a ledger that has any block at once, with a role that takes them slowly.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <stop_token>

#include "node/runtime/ledger_link.hpp"
#include "node/runtime/loop.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongBlockBytes = 4'096;
constexpr std::size_t kFewBlocksBytes = 16 * kLongBlockBytes;

/// Has `length` blocks of kLongBlockBytes, and counts what a port asks of it and what a role says it took.
class LongLedger final : public LedgerService {
public:
    explicit LongLedger(std::uint64_t length) : length_(length) {}

    Outcome<SubmitReply> submit(ByteView) override { return nothing(); }
    Outcome<StateValue> get(ByteView) override { return nothing(); }
    Outcome<StatePage> scan(const ScanRequest&) override { return nothing(); }
    Outcome<LedgerStatus> status() override { return nothing(); }
    Outcome<Bytes> block(std::uint64_t) override {
        const std::lock_guard lock(mutex_);
        ++fetched_;
        most_waiting_ = std::max(most_waiting_, fetched_ - taken_);
        changed_.notify_all();
        return Bytes(kLongBlockBytes);
    }
    Outcome<void> subscribe(std::uint64_t from_height, std::stop_token stop,
                            const BlockHandler& handler) override {
        bool wanted = true;
        for (std::uint64_t next = from_height; next <= length_ && wanted && !stop.stop_requested(); ++next)
            wanted = handler({next, {}, {}});
        std::unique_lock lock(mutex_);
        if (wanted) changed_.wait(lock, stop, [] { return false; });
        ++ended_;
        changed_.notify_all();
        return {};
    }

    void take() {
        const std::lock_guard lock(mutex_);
        ++taken_;
    }
    /// Waits until so many subscriptions have ended. False when they do not.
    bool wait_until_ended(std::uint64_t subscriptions) {
        return wait_until([&] { return ended_ >= subscriptions; });
    }
    /// The same for a port that may never pause: it has then fetched every block.
    bool wait_until_idle(std::uint64_t subscriptions) {
        return wait_until([&] { return ended_ >= subscriptions || fetched_ >= length_; });
    }
    [[nodiscard]] std::uint64_t ended() {
        const std::lock_guard lock(mutex_);
        return ended_;
    }
    /// The most blocks that were fetched and not taken, the one in the port's hand included.
    [[nodiscard]] std::uint64_t most_waiting() {
        const std::lock_guard lock(mutex_);
        return most_waiting_;
    }

private:
    template <class Condition>
    bool wait_until(const Condition& condition) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 30s, condition);
    }
    static base::Failed<base::Error> nothing() {
        return base::fail(base::ErrorKind::kNotFound, "not asked for");
    }

    const std::uint64_t length_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::uint64_t fetched_ = 0, taken_ = 0, most_waiting_ = 0, ended_ = 0;
};

/// Takes every block in order. At some it stays until the port has ended its subscription once more, so that
/// whatever the port would queue is queued.
class SlowRole final : public Role {
public:
    SlowRole(LongLedger& ledger, Loop& loop, std::uint64_t last)
        : ledger_(ledger), loop_(loop), last_(last) {}

    void step(const RoleEvent& event) override {
        if (std::holds_alternative<Started>(event)) {
            port->subscribe(1);
            (void)loop_.timers().at(system_clock().mono_ns() + 60'000'000'000);
        }
        if (std::holds_alternative<TimerFired>(event)) return loop_.stop();  // the test is lost
        if (std::holds_alternative<LedgerLost>(event)) ++lost;
        const auto* block = std::get_if<BlockSeen>(&event);
        if (block == nullptr) return;
        ledger_.take();
        if (block->height > height + 1) ++gaps;
        if (block->height != height + 1) return;
        height = block->height;
        if (height == 1 || height == last_ / 2) waited = ledger_.wait_until_idle(++stays) && waited;
        if (height == again_at) port->subscribe_again(height + 1, 0);
        if (height == last_) loop_.stop();
    }

    std::unique_ptr<LedgerPort> port;
    std::uint64_t height = 0, again_at = 0, stays = 0;
    int gaps = 0, lost = 0;
    bool waited = true;

private:
    LongLedger& ledger_;
    Loop& loop_;
    const std::uint64_t last_;
};

/// Every block came once and in order, the port waited, and nobody was told that the ledger is lost.
void check_all_came(const SlowRole& role, std::uint64_t length) {
    CHECK(role.height == length);
    CHECK(role.waited);
    CHECK(role.gaps == 0);
    CHECK(role.lost == 0);
}

TEST_CASE("a role that executes slowly holds at most so many bytes of blocks that wait") {
    constexpr std::uint64_t kLength = 1'000;
    LongLedger ledger(kLength);
    Loop loop;
    SlowRole role(ledger, loop, kLength);
    role.port = make_ledger_port(ledger, loop, kFewBlocksBytes);
    loop.attach(role);
    loop.run();
    check_all_came(role, kLength);
    CHECK(ledger.ended() >= 2);
    CHECK(ledger.most_waiting() * kLongBlockBytes <= kFewBlocksBytes + kLongBlockBytes);
    CHECK(ledger.most_waiting() * kLongBlockBytes >= kFewBlocksBytes / 2);
}

TEST_CASE("a role that asks for blocks again while its port waits gets them all") {
    constexpr std::uint64_t kLength = 100;
    LongLedger ledger(kLength);
    Loop loop;
    SlowRole role(ledger, loop, kLength);
    role.again_at = 1;
    role.port = make_ledger_port(ledger, loop, kFewBlocksBytes);
    loop.attach(role);
    loop.run();
    check_all_came(role, kLength);
}

TEST_CASE("a block above the limit still comes") {
    constexpr std::uint64_t kLength = 10;
    LongLedger ledger(kLength);
    Loop loop;
    SlowRole role(ledger, loop, kLength);
    role.port = make_ledger_port(ledger, loop, kLongBlockBytes / 2);
    loop.attach(role);
    loop.run();
    CHECK(role.height == kLength);
    CHECK(ledger.most_waiting() == 1);
}

// Nobody runs the loop, so that the queue never empties.
TEST_CASE("a port that waits for its role is closed without it") {
    LongLedger ledger(1'000);
    Loop loop;
    auto port = make_ledger_port(ledger, loop, kFewBlocksBytes);
    port->subscribe(1);
    REQUIRE(ledger.wait_until_idle(1));
    REQUIRE(ledger.ended() == 1);
    const auto closed = std::async(std::launch::async, [&] { port.reset(); });
    const bool in_time = closed.wait_for(30s) == std::future_status::ready;
    CHECK(in_time);
    CHECK(ledger.ended() == 1);
    if (in_time) return;
    loop.post([&] { loop.stop(); });  // lets the test end: the queue empties
    loop.run();
}

TEST_CASE("a subscription ends with its loop, before the port is closed") {
    LongLedger ledger(1'000);
    Loop loop;
    SlowRole role(ledger, loop, 2);
    role.port = make_ledger_port(ledger, loop);
    loop.attach(role);
    loop.run();
    CHECK(role.height == 2);
    CHECK(ledger.wait_until_ended(1));
}

}  // namespace
}  // namespace assay::node
