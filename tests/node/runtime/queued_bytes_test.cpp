// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/queued_bytes.hpp"

#include <chrono>
#include <future>
#include <optional>

#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace std::chrono_literals;

/// A wait for room on a thread of its own. The stop ends it when the test is over, whatever came of it.
struct RoomWait {
    explicit RoomWait(QueuedBytes& queued)
        : done(std::async(std::launch::async, [this, &queued] { queued.wait_for_room(stop.get_token()); })) {}
    ~RoomWait() { stop.request_stop(); }
    [[nodiscard]] bool over(std::chrono::seconds patience) const {
        return done.wait_for(patience) == std::future_status::ready;
    }
    std::stop_source stop;
    std::future<void> done;  // last: it uses the stop
};

TEST_CASE("bytes are queued until the last copy of their share is gone, and more than the limit is full") {
    QueuedBytes queued(100);
    const auto first = queued.add(100);
    CHECK_FALSE(queued.full());
    auto second = queued.add(1);
    CHECK(queued.full());
    auto copy = second;
    second.reset();
    CHECK(queued.full());
    copy.reset();
    CHECK_FALSE(queued.full());
}

TEST_CASE("one item fits where nothing does") {
    QueuedBytes queued(0);
    CHECK_FALSE(queued.full());
    auto share = queued.add(1'000);
    CHECK(queued.full());
    share.reset();
    CHECK_FALSE(queued.full());
    queued.wait_for_room({});
}

TEST_CASE("who waits for room goes on when half is taken, and not before") {
    QueuedBytes queued(100);
    auto first = queued.add(60);
    auto second = queued.add(51);
    const RoomWait wait(queued);
    first.reset();
    CHECK_FALSE(wait.over(0s));  // 51 are left
    second.reset();
    CHECK(wait.over(30s));
}

TEST_CASE("a wait for room ends when it is asked to stop, before it began or after") {
    QueuedBytes queued(100);
    const auto share = queued.add(200);
    RoomWait wait(queued);
    CHECK_FALSE(wait.over(0s));
    wait.stop.request_stop();
    CHECK(wait.over(30s));
    queued.wait_for_room(wait.stop.get_token());
    CHECK(queued.full());
}

TEST_CASE("a share may outlive what counts it") {
    std::optional<QueuedBytes> queued(std::in_place, 100);
    auto share = queued->add(200);
    queued.reset();
    share.reset();
    CHECK(share == nullptr);
}

}  // namespace
}  // namespace assay::node
