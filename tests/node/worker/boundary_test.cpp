// SPDX-License-Identifier: Apache-2.0
// A slot's boundaries come one at a time: each is a whole state in memory until the role lets it go.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "node/worker/taken_frames.hpp"
#include "tests/node/worker/served_worker.hpp"
#include "tests/node/worker/worker_calls.hpp"

using namespace assay;
using namespace assay::node;
using namespace assay::node::test_worker;

namespace {

template <class Frame>
bool is(const frames::Envelope& envelope) {
    return std::holds_alternative<Frame>(envelope.message);
}

/// The next frame that is neither progress nor, unless that is asked for, a pulse.
template <class Wanted>
frames::Envelope next_but_progress(ServedWorker& worker) {
    while (true) {
        frames::Envelope frame = worker.next_frame();
        if (is<Wanted>(frame) || !(is<frames::Progress>(frame) || is<frames::Pulse>(frame))) return frame;
    }
}

}  // namespace

TEST_CASE("a worker waits with a boundary until the one before is let go, and pulses meanwhile") {
    ServedWorker worker({});
    worker.take_boundaries(false);
    worker.train();
    const frames::Envelope first = next_but_progress<frames::Boundary>(worker);
    REQUIRE(is<frames::Boundary>(first));
    CHECK(std::get<frames::Boundary>(first.message).index == 1);
    // Its next step is long done when a pulse comes: a second goes by before.
    REQUIRE(is<frames::Pulse>(next_but_progress<frames::Pulse>(worker)));
    REQUIRE(is<frames::Pulse>(next_but_progress<frames::Pulse>(worker)));
    SECTION("it is let go") {
        worker.taken();
        const frames::Envelope second = next_but_progress<frames::Boundary>(worker);
        REQUIRE(is<frames::Boundary>(second));
        CHECK(std::get<frames::Boundary>(second.message).index == 2);
        worker.taken();
        worker.take_boundaries(true);
        CHECK(is<frames::Trained>(worker.answer()));
    }
    SECTION("the request is cancelled") {
        worker.cancel();
        CHECK(frames::is_final(worker.answer().message));
    }
    // What comes too late for its request is of no other.
    worker.taken();
    worker.take_boundaries(true);
    worker.train();
    CHECK(is<frames::Trained>(worker.answer()));
}

TEST_CASE("a worker's client says that a boundary is let go when its event is, and not before") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started();
    const StateFile base = opened(*worker, job);
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::shared_ptr<const void>> held;
    bool ended = false;
    bool others_held = false;
    worker->submit(train_request(0), {base.bytes}, [&](const WorkerEvent& event) {
        const std::lock_guard lock(mutex);
        const bool should = std::holds_alternative<frames::Boundary>(event.message);
        others_held = others_held || should != (event.held != nullptr);
        if (event.held) held.push_back(event.held);
        ended = ended || event.last;
        changed.notify_all();
    });
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::minutes(5), [&] { return !held.empty(); }));
    CHECK_FALSE(changed.wait_for(lock, std::chrono::seconds(2), [&] { return held.size() > 1 || ended; }));
    for (std::size_t boundaries = 1; !ended; ++boundaries) {
        held.back().reset();
        REQUIRE(changed.wait_for(lock, std::chrono::minutes(5),
                                 [&] { return held.size() > boundaries || ended; }));
    }
    CHECK(held.size() >= 2);
    CHECK_FALSE(others_held);
}

TEST_CASE("what is let go after its client is gone is told nobody") {
    const frames::Wakeup wakeup = frames::Wakeup::create().value();
    auto taken = std::make_unique<TakenFrames>(wakeup);
    auto first = taken->hold({1, 1});
    auto copy = first;
    auto second = taken->hold({2, 1});
    first.reset();
    CHECK(taken->take().empty());
    copy.reset();
    const auto frames = taken->take();
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].request == 1);
    CHECK(taken->take().empty());
    taken.reset();
    second.reset();
}
