// SPDX-License-Identifier: Apache-2.0
#include "node/worker/request_queue.hpp"

#include <poll.h>

#include <thread>

#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::node;

namespace {
RequestQueue queue() {
    auto wakeup = frames::Wakeup::create();
    REQUIRE(wakeup.ok());
    return RequestQueue(std::move(wakeup).value());
}
WorkerRequestId push(RequestQueue& requests) { return requests.push(frames::Initial{}, {}, {}); }

bool is_woken(const RequestQueue& requests) {
    pollfd woken{requests.wakeup().number(), POLLIN, 0};
    return ::poll(&woken, 1, 0) == 1;
}
}  // namespace

TEST_CASE("requests are taken in the order in which they came, and the first stays where it is") {
    RequestQueue requests = queue();
    CHECK(requests.front() == nullptr);
    const WorkerRequestId first = push(requests);
    QueuedRequest* const at_work = requests.front();
    REQUIRE(at_work != nullptr);
    CHECK(at_work->id == first);
    CHECK_FALSE(at_work->sent);
    at_work->sent = true;
    WorkerRequestId last = 0;
    for (int i = 0; i < 1000; ++i) last = push(requests);
    CHECK(requests.front() == at_work);
    CHECK(at_work->sent);
    CHECK(requests.take_front().id == first);
    CHECK(requests.front()->id == first + 1);
    const auto rest = requests.take_all();
    REQUIRE(rest.size() == 1000);
    CHECK(rest.back().id == last);
    CHECK(requests.front() == nullptr);
}

TEST_CASE("what is cancelled stays in its place, and what is gone cannot be cancelled") {
    RequestQueue requests = queue();
    const WorkerRequestId first = push(requests);
    const WorkerRequestId second = push(requests);
    requests.cancel(second);
    CHECK_FALSE(requests.is_cancelled(*requests.front()));
    requests.take_front();
    CHECK(requests.front()->id == second);
    CHECK(requests.is_cancelled(*requests.front()));
    requests.cancel(first);
    requests.cancel(second + 1);
    CHECK(requests.take_all().size() == 1);
}

TEST_CASE("each call of a caller wakes the thread, until it has looked") {
    RequestQueue requests = queue();
    CHECK_FALSE(is_woken(requests));
    const WorkerRequestId one = push(requests);
    push(requests);
    CHECK(is_woken(requests));
    requests.wakeup().clear();
    CHECK_FALSE(is_woken(requests));
    requests.cancel(one);
    CHECK(is_woken(requests));
    requests.wakeup().clear();
    requests.wakeup().clear();  // does not wait for a call
    requests.close();
    CHECK(is_woken(requests));
    CHECK(requests.closed());
}

TEST_CASE("a thread that waits for a request gets one, or the end") {
    RequestQueue requests = queue();
    std::thread caller([&] { push(requests); });
    requests.await_request();
    caller.join();
    CHECK(requests.take_all().size() == 1);
    requests.cancel(1);  // wakes it, and it goes on to wait
    std::thread closer([&] { requests.close(); });
    requests.await_request();
    closer.join();
    CHECK(requests.closed());
}
