// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/pacer.hpp"

#include <atomic>
#include <semaphore>
#include <thread>

#include "tests/node/worker/served_worker.hpp"

using namespace assay;
using namespace assay::node;
using namespace assay::node::test_worker;
using namespace std::chrono_literals;
using verifier::Pacer;
using verifier::rest_after;

TEST_CASE("a worker that computes in a share of the time rests for the others") {
    CHECK(rest_after(100ms, 100) == 0ns);
    CHECK(rest_after(100ms, 50) == 100ms);
    CHECK(rest_after(100ms, 25) == 300ms);
    CHECK(rest_after(1s, 1) == 99s);
    CHECK(rest_after(10ns, 99) == 0ns);
    CHECK(rest_after(-5ns, 50) == 0ns);
    // A machine that slept for a month does not rest for years.
    CHECK(rest_after(24h * 31, 50) == 24h);
    CHECK(rest_after(std::chrono::nanoseconds::max(), 1) == 24h * 99);
}

TEST_CASE("a pacer owes rest for work alone, and what was cut short later on") {
    const Pacer::Moment start{};
    Pacer pacer(25);
    pacer.work_from(start);
    CHECK(pacer.due(start + 10ms) == 30ms);
    pacer.rested(30ms);
    // Rest is no work.
    CHECK(pacer.due(start + 60ms) == 60ms);
    pacer.rested(20ms);  // cut short
    CHECK(pacer.due(start + 80ms) == 40ms);
    pacer.rested(45ms);
    // Having slept too long buys nothing.
    CHECK(pacer.due(start + 125ms) == 0ms);
    pacer.idled(1s);  // for somebody else
    CHECK(pacer.due(start + 1s + 130ms) == 15ms);
    pacer.rested(15ms);
    pacer.work_from(start + 10s);  // idle in between
    CHECK(pacer.due(start + 10s + 1ms) == 3ms);
}

namespace {

/// Each look at it is 10 ms after the one before, so that every stretch of work is 10 ms long. Rests take no
/// time of ours, but what `sleeps` says.
class FakeClock : public verifier::RestClock {
public:
    explicit FakeClock(std::chrono::milliseconds sleeps = 0ms) : sleeps_(sleeps) {}
    Pacer::Moment now() override { return now_ += 10ms; }
    void wait(std::unique_lock<std::mutex>&, std::condition_variable&, std::chrono::nanoseconds due,
              const std::function<bool()>&) override {
        rests.push_back(due);
        std::this_thread::sleep_for(sleeps_);
        now_ += due - 10ms;  // as long as is due, with the look behind it
    }
    std::vector<std::chrono::nanoseconds> rests;

private:
    Pacer::Moment now_{};
    std::chrono::milliseconds sleeps_;
};

/// The first rest of a training, behind those for the two answers before it, is over when it is cut short, or
/// after half a minute, which nobody waits for.
class PatientClock : public verifier::RestClock {
public:
    void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& wake, std::chrono::nanoseconds,
              const std::function<bool()>& over) override {
        if (rests_++ != 2) return;
        resting.release();
        cut_short = wake.wait_for(lock, 30s, over);
    }
    std::binary_semaphore resting{0};
    std::atomic<bool> cut_short = false;

private:
    int rests_ = 0;  // the worker's thread alone counts
};

/// How a worker with this duty and clock serves.
verifier::WorkerServerOptions paced(unsigned duty, std::shared_ptr<verifier::RestClock> clock) {
    verifier::WorkerServerOptions options;
    options.duty = duty;
    options.clock = std::move(clock);
    return options;
}

frames::Trained trained(ServedWorker& worker) {
    worker.train();
    const frames::Envelope answer = worker.answer();
    REQUIRE(std::holds_alternative<frames::Trained>(answer.message));
    return std::get<frames::Trained>(answer.message);
}

}  // namespace

TEST_CASE("a worker rests for each stretch of work by its share, between steps too, and not at all for 100") {
    const auto quarter = std::make_shared<FakeClock>();
    {
        ServedWorker worker(paced(25, quarter));
        trained(worker);
    }
    // Behind each of the five steps, at the end of each segment, and behind the answers.
    CHECK(quarter->rests.size() >= 5 + 3 + 1);
    for (const auto& rest : quarter->rests) CHECK(rest == 30ms);
    const auto whole = std::make_shared<FakeClock>();
    {
        ServedWorker worker(paced(100, whole));
        trained(worker);
    }
    CHECK(whole->rests.empty());
}

TEST_CASE("rests leave the bits alone, and are in the time that a slot is said to have taken") {
    ServedWorker worker(paced(100, std::make_shared<FakeClock>()));
    const frames::Trained whole = trained(worker);
    const auto clock = std::make_shared<FakeClock>(5ms);
    ServedWorker resting(paced(10, clock));
    const frames::Trained tenth = trained(resting);
    resting.close();
    CHECK(tenth.trace.update == whole.trace.update);
    CHECK(tenth.trace.boundaries == whole.trace.boundaries);
    // A sleep of 5 ms is never shorter: five steps and three segments.
    CHECK(tenth.nanoseconds >= 8 * 5'000'000);
}

TEST_CASE("a worker that rests is cancelled at once, and stopped at once") {
    const auto clock = std::make_shared<PatientClock>();
    SECTION("cancelled") {
        ServedWorker worker(paced(50, clock));
        worker.train();
        clock->resting.acquire();
        worker.cancel();
        const frames::Envelope answer = worker.answer();
        CHECK(std::get<frames::Refusal>(answer.message).reason == frames::RefusalReason::kCancelled);
    }
    SECTION("stopped") {
        ServedWorker worker(paced(50, clock));
        worker.train();
        clock->resting.acquire();
        worker.close();
    }
    CHECK(clock->cut_short);
}

TEST_CASE("a duty that is none is refused with a fix") {
    WorkerOptions how = options();
    how.environment = {{"ASSAY_DUTY", "101"}};
    const auto refused = WorkerProcess::start(how);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kUsage);
    CHECK(refused.error().what.find("ASSAY_DUTY") != std::string::npos);
}
