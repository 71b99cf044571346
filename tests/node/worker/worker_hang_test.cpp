// SPDX-License-Identifier: Apache-2.0
// Workers that hang (decisions 94, 96, 97 and 98): a stopped process stands for one whose card computes no
// more.
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "contracts/worker/self_test.hpp"
#include "node/worker/worker_process.hpp"
#include "tests/node/worker/worker_calls.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tiny_job.hpp"

using namespace assay;
using namespace assay::node;
using namespace assay::node::test_worker;

namespace {
/// Of an emulated card, whose worker hangs after two seconds without a report.
WorkerOptions of_card() {
    WorkerOptions how = options();
    how.device = "cuda-host";
    how.least_patience = std::chrono::seconds(2);
    return how;
}

void signal_to(const WorkerProcess& worker, int number) {
    const pid_t child = worker.pid();
    REQUIRE(child > 0);
    REQUIRE(::kill(child, number) == 0);
}

/// Its driver does not let go of it: the signal that should end it does nothing.
WorkerOptions that_cannot_be_ended() {
    WorkerOptions how = of_card();
    how.kill_signal = SIGURG;
    how.kill_patience = std::chrono::milliseconds(200);
    return how;
}

/// More than a socket holds. A worker that has read all of it refuses it with this text.
frames::Train long_request() {
    frames::Train request = train_request(0);
    request.resume.emplace();
    request.resume->fingerprints.resize(100'000);
    return request;
}
constexpr std::uint64_t kLongRequestBytes = 800'000;
constexpr std::string_view kLongRequestRefused = "a trace with 0 boundaries cannot be resumed";

WorkerEvent in_time(std::promise<WorkerEvent>& last) {
    auto event = last.get_future();
    REQUIRE(event.wait_for(std::chrono::minutes(10)) == std::future_status::ready);
    return event.get();
}

WorkerHandler keep_last(std::promise<WorkerEvent>& last) {
    return [&last](const WorkerEvent& event) {
        if (event.last) last.set_value(event);
    };
}

/// Returns when its first bytes are sent.
WorkerRequestId begin_long_request(WorkerProcess& worker, const StateFile& base,
                                   std::promise<WorkerEvent>& last) {
    const std::uint64_t before = WorkerProcess::socket_bytes();
    const WorkerRequestId id = worker.submit(long_request(), {base.bytes, base.bytes}, keep_last(last));
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(10);
    while (WorkerProcess::socket_bytes() == before) {
        REQUIRE(std::chrono::steady_clock::now() < until);
        std::this_thread::yield();
    }
    return id;
}

/// Empty for another answer.
std::string text_of_refusal(const WorkerEvent& event) {
    const auto* refusal = std::get_if<frames::Refusal>(&event.message);
    return refusal == nullptr ? "" : refusal->text;
}

frames::Replay first_unit(const StateFile& base) {
    frames::Replay request;
    request.base_root = base.root;
    return request;
}

/// Stops the worker at step 1 of its first training: it computes no more, and its socket stays open, as on a
/// card whose kernel never ends.
class Hanging {
public:
    explicit Hanging(const WorkerProcess& worker) : worker_(worker) {}
    void operator()(const WorkerEvent& event) {
        const auto* step = std::get_if<frames::Progress>(&event.message);
        if (step == nullptr || step->step != 1 || hung_.exchange(true)) return;
        stop_process(worker_.pid());
    }
    [[nodiscard]] bool hung() const { return hung_; }

private:
    const WorkerProcess& worker_;
    std::atomic<bool> hung_ = false;
};
}  // namespace

TEST_CASE("a card's worker that hangs while it trains is ended, and another one goes on with the same bits") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started(of_card());
    const StateFile base = opened(*worker, job);
    const TrainLog quiet = train(*worker, base);
    CHECK(worker->deaths() == 0);
    Hanging hanging(*worker);
    const TrainLog disturbed = train(*worker, base, std::ref(hanging));
    CHECK(hanging.hung());
    CHECK(worker->deaths() == 1);
    CHECK(disturbed.boundaries == quiet.boundaries);
    CHECK(disturbed.trained.trace == quiet.trained.trace);
    CHECK(content(disturbed.update) == content(quiet.update));
}

TEST_CASE("a card's worker that hangs at an audit or an evaluation is ended, and another one answers alike") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started(of_card());
    const StateFile base = opened(*worker, job);
    const auto audit = [&] {
        return call_for<frames::Replayed>(
            *worker, first_unit(base), {base.bytes}, [](const WorkerEvent& event) {
                CHECK_FALSE(std::holds_alternative<frames::Pulse>(event.message));  // they are the client's
            });
    };
    const auto audited = audit();
    REQUIRE(audited.ok());
    stop(*worker);
    const auto again = audit();
    REQUIRE(again.ok());
    CHECK(worker->deaths() == 1);
    CHECK(again->first.parts == audited->first.parts);
    const auto evaluated = evaluate_state(*worker, base.bytes, 0);
    REQUIRE(evaluated.ok());
    stop(*worker);
    const auto once_more = evaluate_state(*worker, base.bytes, 0);
    REQUIRE(once_more.ok());
    CHECK(worker->deaths() == 2);
    CHECK(once_more->loss_bits == evaluated->loss_bits);
    // Nothing is known of audits of another job: one is waited for.
    tests::TinyJob other = job;
    ++other.spec.seed;
    const StateFile other_base = opened(*worker, other);
    stop(*worker);
    std::thread waker([&] {
        std::this_thread::sleep_for(std::chrono::seconds(4));
        ::kill(worker->pid(), SIGCONT);
    });
    CHECK(call_for<frames::Replayed>(*worker, first_unit(other_base), {other_base.bytes}).ok());
    waker.join();
    CHECK(worker->deaths() == 2);
}

TEST_CASE("a card's worker that stops taking a request is ended, and another one gets it whole") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started(of_card());
    const StateFile base = opened(*worker, job);
    stop(*worker);
    std::promise<WorkerEvent> last;
    worker->submit(long_request(), {base.bytes, base.bytes}, keep_last(last));
    CHECK(text_of_refusal(in_time(last)) == kLongRequestRefused);
    CHECK(worker->deaths() == 1);
}

TEST_CASE("calls without a pause do not keep a card's worker that hangs") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started(of_card());
    const StateFile base = opened(*worker, job);
    Hanging hanging(*worker);
    std::atomic<bool> done = false;
    auto caller = std::async(std::launch::async, [&] {
        while (!done) worker->cancel(0);  // of no request
    });
    std::promise<WorkerEvent> last;
    worker->submit(train_request(0), {base.bytes}, [&](const WorkerEvent& event) {
        hanging(event);
        if (event.last) last.set_value(event);
    });
    const WorkerEvent event = in_time(last);
    done = true;
    CHECK(std::holds_alternative<frames::Trained>(event.message));
    CHECK(worker->deaths() == 1);
}

TEST_CASE("no caller waits for a worker that takes no more of a request") {
    const tests::TinyJob job = tests::tiny_job();
    WorkerOptions how = of_card();
    how.least_patience = std::chrono::hours(1);
    std::promise<WorkerEvent> first, second;
    const auto worker = started(how);
    const StateFile base = opened(*worker, job);
    stop(*worker);
    const std::uint64_t before = WorkerProcess::socket_bytes();
    const WorkerRequestId id = begin_long_request(*worker, base, first);
    const WorkerRequestId behind =
        worker->submit(long_request(), {base.bytes, base.bytes}, keep_last(second));
    worker->cancel(behind);
    worker->cancel(id);
    CHECK(worker->hello().self_test == frames::self_test_golden());
    CHECK(WorkerProcess::socket_bytes() - before < kLongRequestBytes);  // it is still being sent
    signal_to(*worker, SIGCONT);
    CHECK(text_of_refusal(in_time(second)) == "cancelled");
    CHECK_FALSE(text_of_refusal(in_time(first)).empty());
    CHECK(worker->deaths() == 0);
}

TEST_CASE("a client whose worker takes no more of a request is closed at once") {
    const tests::TinyJob job = tests::tiny_job();
    WorkerOptions how = of_card();
    how.least_patience = std::chrono::hours(1);
    std::promise<WorkerEvent> last;
    auto worker = started(how);
    const StateFile base = opened(*worker, job);
    stop(*worker);
    begin_long_request(*worker, base, last);
    worker.reset();
    CHECK(text_of_refusal(in_time(last)) == "the worker client was closed");
}

TEST_CASE("what a handler asks for while its client is closed is answered too") {
    const tests::TinyJob job = tests::tiny_job();
    std::promise<WorkerEvent> last;
    auto worker = started(of_card());
    const StateFile base = opened(*worker, job);
    stop(*worker);
    worker->submit(train_request(0), {base.bytes}, [&, client = worker.get()](const WorkerEvent& event) {
        if (event.last) client->submit(train_request(0), {base.bytes}, keep_last(last));
    });
    worker.reset();
    CHECK(text_of_refusal(in_time(last)) == "the worker client was closed");
}

TEST_CASE("the device of a worker that cannot be ended is lost until the kernel has ended it") {
    const tests::TinyJob job = tests::tiny_job();
    std::promise<WorkerEvent> first, second;
    const auto worker = started(that_cannot_be_ended());
    const StateFile base = opened(*worker, job);
    const TrainLog quiet = train(*worker, base);
    const pid_t child = worker->pid();
    Hanging hanging(*worker);
    worker->submit(train_request(0), {base.bytes}, [&](const WorkerEvent& event) {
        hanging(event);
        if (event.last) first.set_value(event);
    });
    const std::string stuck = "process " + std::to_string(child) + " of the worker cannot be ended";
    for (std::promise<WorkerEvent>* last : {&first, &second}) {
        const WorkerEvent event = in_time(*last);
        const auto* refusal = std::get_if<frames::Refusal>(&event.message);
        REQUIRE(refusal != nullptr);
        CHECK(refusal->reason == frames::RefusalReason::kLost);
        CHECK(refusal->text.find(stuck) == 0);
        CHECK(worker->pid() == 0);
        if (last == &first) worker->submit(train_request(0), {base.bytes}, keep_last(second));
    }
    CHECK(worker->deaths() == 1);
    REQUIRE(::kill(child, SIGKILL) == 0);
    siginfo_t ended{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
    const TrainLog again = train(*worker, base);
    CHECK(again.trained.trace == quiet.trained.trace);
    CHECK(worker->pid() != child);
}

TEST_CASE("a client whose worker cannot be ended is closed, and the worker is left to the kernel") {
    const tests::TinyJob job = tests::tiny_job();
    std::promise<WorkerEvent> last;
    auto worker = started(that_cannot_be_ended());
    const StateFile base = opened(*worker, job);
    const pid_t child = worker->pid();
    stop(*worker);
    worker->submit(train_request(0), {base.bytes}, keep_last(last));
    worker.reset();
    CHECK(text_of_refusal(in_time(last)) == "the worker client was closed");
    // SIGKILL comes with the end of the thread that spawned it (PR_SET_PDEATHSIG).
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("what is cancelled while its worker hangs is answered, and the request behind it gets its turn") {
    const tests::TinyJob job = tests::tiny_job();
    WorkerOptions how = of_card();
    how.max_deaths = 1;  // the next death ends the request that is at work
    const auto worker = started(how);
    const StateFile base = opened(*worker, job);
    Hanging hanging(*worker);
    std::promise<WorkerEvent> last;
    const WorkerRequestId id = worker->submit(train_request(0), {base.bytes}, [&](const WorkerEvent& event) {
        hanging(event);
        if (event.last) last.set_value(event);
    });
    auto answer = last.get_future();
    while (!hanging.hung()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    worker->cancel(id);
    CHECK(call_for<frames::Trained>(*worker, train_request(1), {base.bytes}).ok());
    const WorkerEvent event = answer.get();
    const auto* refusal = std::get_if<frames::Refusal>(&event.message);
    REQUIRE(refusal != nullptr);
    CHECK(refusal->reason == frames::RefusalReason::kCancelled);
    CHECK(worker->deaths() == 1);
}

TEST_CASE("a client whose worker hangs is closed at once") {
    const tests::TinyJob job = tests::tiny_job();
    WorkerOptions how = of_card();
    how.least_patience = std::chrono::hours(1);
    auto worker = started(how);
    const StateFile base = opened(*worker, job);
    Hanging hanging(*worker);
    std::promise<WorkerEvent> last;
    worker->submit(train_request(0), {base.bytes}, [&](const WorkerEvent& event) {
        hanging(event);
        if (event.last) last.set_value(event);
    });
    while (!hanging.hung()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    worker.reset();
    CHECK(std::holds_alternative<frames::Refusal>(last.get_future().get().message));
}

TEST_CASE(
    "workers that have nothing to do, and those of the processor, are silent for as long as they like") {
    const tests::TinyJob job = tests::tiny_job();
    for (const char* device : {"cuda-host", "cpu"}) {
        INFO(device);
        WorkerOptions how = of_card();
        how.device = device;
        const auto worker = started(how);
        const StateFile base = opened(*worker, job);
        Hanging hanging(*worker);
        if (how.device == "cpu") {  // stopped at work, and continued
            std::thread waker([&] {
                while (!hanging.hung()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
                std::this_thread::sleep_for(std::chrono::seconds(4));
                ::kill(worker->pid(), SIGCONT);
            });
            train(*worker, base, std::ref(hanging));
            waker.join();
        } else {
            train(*worker, base);
            stop(*worker);
            std::this_thread::sleep_for(std::chrono::seconds(4));
            ::kill(worker->pid(), SIGCONT);
        }
        CHECK(worker->deaths() == 0);
        CHECK(initial_state(*worker).ok());
    }
}
