// SPDX-License-Identifier: Apache-2.0
// Who counts as one caller, how calls are counted, and how threads take turns between callers.
#include <future>
#include <vector>

#include "node/rpc/caller.hpp"
#include "node/rpc/fair_pool.hpp"
#include "node/rpc/open_calls.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

class FakeCall final : public OpenCall {
public:
    FakeCall(CallKind kind, const std::string& name, const std::string& address,
             Clock::duration longest = Clock::duration::max())
        : OpenCall(kind, {name, address}, longest) {}
    void cut() override { ++cuts; }
    using OpenCall::handed_out;
    using OpenCall::taken;
    std::atomic<int> cuts = 0;
};

ServerLimits small_limits() {
    ServerLimits limits;
    limits.transfers = {.total = 4, .per_address = 3, .per_caller = 2};
    limits.subscriptions = {.total = 1, .per_address = 1, .per_caller = 1};
    limits.stall = std::chrono::milliseconds(50);
    return limits;
}

void wait_for_cut(const FakeCall& call) {
    for (int i = 0; i < 500 && call.cuts == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    REQUIRE(call.cuts > 0);
}

}  // namespace

TEST_CASE("without TLS a caller is a connection; its address has no port, and of IPv6 64 bits") {
    const auto is = [](const std::string& peer, const std::string& address) {
        const Caller caller = caller_of(peer, {});
        INFO(peer);
        CHECK(caller.name == peer);
        CHECK(caller.address == address);
    };
    is("ipv4:127.0.0.1:7400", "127.0.0.1");
    is("ipv6:%5B::1%5D:7400", "::/64");
    is("ipv6:[2001:db8:1:2:3:4:5:6]:7400", "2001:db8:1:2::/64");
    is("ipv6:%5B2001:db8:1:2:ffff::1%25eth0%5D:7400", "2001:db8:1:2::/64");
    is("ipv6:[::ffff:192.0.2.7]:7400", "192.0.2.7");
    is("unknown", "unknown");
    is("", "");
}

TEST_CASE("under TLS a caller is a certificate, whatever connection it comes by") {
    const Caller first = caller_of("ipv4:192.0.2.1:1000", "certificate A");
    CHECK(first.name == caller_of("ipv4:192.0.2.9:2000", "certificate A").name);
    CHECK(first.name != caller_of("ipv4:192.0.2.1:1000", "certificate B").name);
    CHECK(first.address == "192.0.2.1");
}

TEST_CASE("calls are counted by caller, by address and in all, each kind by itself") {
    OpenCalls calls(small_limits());
    FakeCall a1(CallKind::kTransfer, "a", "here"), a2(CallKind::kTransfer, "a", "here"),
        a3(CallKind::kTransfer, "a", "here"), b1(CallKind::kTransfer, "b", "here"),
        b2(CallKind::kTransfer, "b", "here"), c1(CallKind::kTransfer, "c", "there"),
        c2(CallKind::kTransfer, "c", "there"), s1(CallKind::kSubscription, "a", "here"),
        s2(CallKind::kSubscription, "c", "there");
    CHECK(calls.admit(a1));
    CHECK(calls.admit(a2));
    CHECK_FALSE(calls.admit(a3));  // the caller has two
    CHECK(calls.admit(b1));
    CHECK_FALSE(calls.admit(b2));  // its address has three
    CHECK(calls.admit(c1));
    CHECK_FALSE(calls.admit(c2));  // four in all
    CHECK(calls.admit(s1));        // of another kind
    CHECK_FALSE(calls.admit(s2));
    calls.leave(a1);
    CHECK(calls.admit(a3));
    for (FakeCall* call : {&a2, &a3, &b1, &c1, &s1}) calls.leave(*call);
    CHECK(calls.admit(s2));
    calls.leave(s2);
}

TEST_CASE("a call is cut when its client stalls or its time is over, and all are when the server stops") {
    OpenCalls calls(small_limits());
    FakeCall stalled(CallKind::kTransfer, "a", "here"), waiting(CallKind::kTransfer, "a", "here"),
        late(CallKind::kTransfer, "b", "here", std::chrono::milliseconds(50));
    for (FakeCall* call : {&stalled, &waiting, &late}) REQUIRE(calls.admit(*call));
    stalled.handed_out();
    waiting.handed_out();
    waiting.taken();
    wait_for_cut(stalled);
    wait_for_cut(late);
    CHECK(waiting.cuts == 0);
    calls.stop();
    CHECK(waiting.cuts == 1);
    for (FakeCall* call : {&stalled, &waiting, &late}) calls.leave(*call);
    CHECK_FALSE(calls.admit(waiting));
}

TEST_CASE("threads take turns between callers: who asks for much waits for himself") {
    std::vector<std::string> order;
    {
        FairPool pool(1);
        std::promise<void> go;
        pool.add("z", [&, wait = go.get_future().share()] { wait.wait(); });
        for (const char* work : {"a1", "a2", "a3", "b1", "c1", "b2"}) {
            pool.add(std::string(work, 1), [&order, work] { order.emplace_back(work); });
        }
        go.set_value();
    }
    CHECK(order == std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3"});
}

}  // namespace assay::node
