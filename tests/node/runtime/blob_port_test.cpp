// SPDX-License-Identifier: Apache-2.0
// The real blob port, with peers in this process of whom one gives its bytes so slowly that they never end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "node/runtime/fetch_lanes.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/runtime/loop.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using namespace std::chrono_literals;

/// Serves a store; a slow one gives a chunk and then nothing until the test lets it go.
class Peer final : public BlobService {
public:
    Peer(BlobService& store, const std::atomic<bool>* held) : store_(store), held_(held) {}
    FetchOutcome<BlobDescription> describe(const BlobId& id) override { return store_.describe(id); }
    FetchEnd fetch(const BlobId& id, std::uint64_t first, const ChunkHandler& handler) override {
        return store_.fetch(id, first, [&](std::uint64_t index, base::ByteView chunk) {
            while (index > 0 && held_ != nullptr && *held_) std::this_thread::sleep_for(1ms);
            return handler(index, chunk);
        });
    }

private:
    BlobService& store_;
    const std::atomic<bool>* held_;
};

/// Keeps what the port answers; stops the loop once `awaited` answers are there, or when time is up.
class Listener final : public Role {
public:
    explicit Listener(Loop& loop) : loop_(loop) {}
    void step(const RoleEvent& event) override {
        if (std::holds_alternative<Started>(event))
            (void)loop_.timers().at(system_clock().mono_ns() + 10'000'000'000);
        if (std::holds_alternative<TimerFired>(event)) return loop_.stop();
        if (const auto* blob = std::get_if<BlobAsked>(&event)) asked.insert(blob->request);
        if (const auto* blob = std::get_if<BlobArriving>(&event)) ++arriving[blob->request];
        if (const auto* blob = std::get_if<BlobFetched>(&event)) fetched[blob->request] = blob->result.ok();
        if (fetched.size() >= awaited && asked.size() >= awaited_asked) loop_.stop();
    }
    Loop& loop_;
    std::size_t awaited = 1, awaited_asked = 0;
    std::set<RequestId> asked;
    std::map<RequestId, int> arriving;
    std::map<RequestId, bool> fetched;
};

struct Fixture {
    Fixture() {
        port = make_blob_port(
            *target,
            [this](const Endpoint& at, Traffic) -> base::Outcome<std::unique_ptr<BlobService>> {
                if (at == "gone") return base::fail(base::ErrorKind::kUnreachable, "gone");
                return std::unique_ptr<BlobService>(
                    std::make_unique<Peer>(*source, at == "mia" ? &held : nullptr));
            },
            loop);
    }
    ~Fixture() {
        held = false;  // the port waits for what has begun
        port.reset();
    }
    BlobId blob(std::uint8_t filler) { return source->put(base::Bytes(2 * kChunkBytes, filler)).value(); }
    static FetchTerms owed_by(std::uint8_t name) {
        FetchTerms terms;
        terms.owed_by.bytes.fill(name);
        return terms;
    }

    test::TemporaryFolder folder;
    std::unique_ptr<BlobStore> source =
        BlobStore::open({.folder = folder / "source", .free_bytes_min = 0}).value();
    std::unique_ptr<BlobStore> target =
        BlobStore::open({.folder = folder / "target", .free_bytes_min = 0}).value();
    std::atomic<bool> held = true;
    Loop loop;
    std::unique_ptr<BlobPort> port;
};

}  // namespace

TEST_CASE("one peer that trickles every blob it owes holds up no fetch of another's") {
    Fixture net;
    Listener role(net.loop);
    net.loop.attach(role);
    // More than one for each parity of an id's first byte.
    for (std::uint8_t i = 0; i < 8; ++i) net.port->fetch(100 + i, net.blob(i), Fixture::owed_by(1), {"mia"});
    const BlobId moes = net.blob(50);
    net.port->fetch(200, moes, Fixture::owed_by(1), {"mia"});  // mia names it as her own
    net.port->fetch(1, moes, Fixture::owed_by(2), {"moe"});
    net.port->fetch(2, net.blob(51), {}, {"vera", "moe"});  // a base state, owed by nobody by name
    role.awaited = role.awaited_asked = 2;
    net.loop.run();
    CHECK(role.fetched == std::map<RequestId, bool>{{1, true}, {2, true}});
    CHECK(net.target->has(moes));
    // Of what mia owes, the first alone is being asked for: the others wait for her, and for nobody else.
    CHECK(role.asked == std::set<RequestId>{1, 100});
}

TEST_CASE("a blob that its judges do not have is asked of its miner last, and only then said to be asked") {
    Fixture net;
    Listener role(net.loop);
    net.loop.attach(role);
    net.port->fetch(1, net.blob(1), Fixture::owed_by(2), {"moe", "gone"});
    net.port->fetch(2, net.blob(2), Fixture::owed_by(2), {"gone", "moe"});
    role.awaited = 2;
    net.loop.run();
    CHECK(role.fetched == std::map<RequestId, bool>{{1, true}, {2, true}});
    CHECK(role.asked == std::set<RequestId>{2});
}

TEST_CASE("lanes run beside each other, each in order, on no more threads than there may be") {
    std::mutex mutex;
    std::map<int, std::vector<int>> done;
    std::atomic<int> at_once = 0, most = 0, left = 60;
    {
        FetchLanes lanes(4);
        for (int i = 0; i < 60; ++i) {
            lanes.add("lane " + std::to_string(i % 6), [&, i](const std::stop_token&) {
                const int now = ++at_once;
                for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
                }
                std::this_thread::sleep_for(1ms);
                --at_once;
                const std::lock_guard lock(mutex);
                done[i % 6].push_back(i);
                --left;
            });
        }
        for (int i = 0; i < 5'000 && left > 0; ++i) std::this_thread::sleep_for(1ms);
    }
    REQUIRE(done.size() == 6);
    for (const auto& [lane, numbers] : done) {
        CHECK(numbers.size() == 10);
        CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    }
    CHECK(most <= 4);
    CHECK(most > 1);
}

TEST_CASE("the end of the lanes stops what has begun and drops the rest") {
    std::atomic<int> begun = 0;
    {
        FetchLanes lanes(1);
        for (int i = 0; i < 3; ++i) {
            lanes.add(std::to_string(i), [&](const std::stop_token& stop) {
                ++begun;
                while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
            });
        }
        while (begun == 0) std::this_thread::sleep_for(1ms);
    }
    CHECK(begun == 1);
}

TEST_CASE("a port says once that the holder which owes a blob gives it, and of no other holder") {
    Fixture net;
    net.held = false;
    Listener role(net.loop);
    role.awaited = 3;
    net.loop.attach(role);
    const BlobId large = net.source->put(base::Bytes(3 * kChunkBytes, 7)).value();
    const BlobId small = net.source->put(base::Bytes(kChunkBytes, 8)).value();
    net.port->fetch(1, large, {}, {"mia"});
    net.port->fetch(2, small, {}, {"moe"});                // here with its only chunk
    net.port->fetch(3, net.blob(9), {}, {"moe", "gone"});  // moe owes nothing
    net.loop.run();
    CHECK(role.fetched == std::map<RequestId, bool>{{1, true}, {2, true}, {3, true}});
    CHECK(role.arriving == std::map<RequestId, int>{{1, 1}});
}

}  // namespace assay::node
