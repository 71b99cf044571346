// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/pacer.hpp"

#include <fstream>

#include "tests/node/worker/worker_calls.hpp"

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
    pacer.work_from(start + 10s);  // idle in between
    CHECK(pacer.due(start + 10s + 1ms) == 3ms);
}

namespace {

/// Nanoseconds that the process's first thread, which works, was on a processor; 0: the kernel does not say.
std::uint64_t computed_ns(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/schedstat");
    std::uint64_t ns = 0;
    return file >> ns ? ns : 0;
}

struct PacedRun {
    base::Hash256 update;
    std::vector<base::Hash256> boundaries;
    std::uint64_t took_ns = 0;
    std::uint64_t computed_ns = 0;
};

PacedRun trained_at(unsigned duty) {
    WorkerOptions how = options();
    how.duty = duty;
    const auto worker = WorkerProcess::start(how);
    if (!worker.ok()) FAIL(worker.error().what);
    const tests::TinyJob job = tests::tiny_job();
    const auto base = opened(**worker, job);
    const std::uint64_t before = computed_ns((*worker)->pid());
    const auto answer = call_for<frames::Trained>(**worker, train_request(0), {base.bytes}, {});
    if (!answer.ok()) FAIL(answer.error().what);
    return {answer->first.trace.update, answer->first.trace.boundaries, answer->first.nanoseconds,
            computed_ns((*worker)->pid()) - before};
}

}  // namespace

TEST_CASE("rests leave the bits alone, and are in the time that a slot is said to have taken") {
    const PacedRun whole = trained_at(100);
    const PacedRun tenth = trained_at(10);
    CHECK(tenth.update == whole.update);
    CHECK(tenth.boundaries == whole.boundaries);
    // What comes after the last step is rested for after the answer. Other processes only add to the time.
    CHECK(tenth.took_ns >= 2 * tenth.computed_ns);
}

TEST_CASE("a worker that rests is cancelled and stopped at once") {
    WorkerOptions how = options();
    how.duty = 10;
    const auto worker = WorkerProcess::start(how);
    REQUIRE(worker.ok());
    tests::TinyJob job = tests::tiny_job();
    const auto base = opened(**worker, job);
    bool cancelled = false;
    const auto answer =
        call_for<frames::Trained>(**worker, train_request(0), {base.bytes}, [&](const WorkerEvent& event) {
            if (std::exchange(cancelled, true)) return;
            (*worker)->cancel(event.request);
        });
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().kind == base::ErrorKind::kInterrupted);
}

TEST_CASE("a duty that is none is refused with a fix") {
    WorkerOptions how = options();
    how.environment = {{"ASSAY_DUTY", "101"}};
    const auto refused = WorkerProcess::start(how);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kUsage);
    CHECK(refused.error().what.find("ASSAY_DUTY") != std::string::npos);
}
