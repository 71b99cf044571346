// SPDX-License-Identifier: Apache-2.0
// A server that asks itself whether it still takes connections.
#include "node/rpc/self_probe.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "node/blob/blob_store.hpp"
#include "node/rpc/server.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

/// Accepts connections at every address of this machine and ends them at once, while it is told to.
class EndingServer {
public:
    EndingServer() {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_ANY);
        socklen_t size = sizeof at;
        REQUIRE(bind(listening_, reinterpret_cast<const sockaddr*>(&at), size) == 0);
        REQUIRE(listen(listening_, 64) == 0);
        REQUIRE(getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size) == 0);
        port_ = ntohs(at.sin_port);
        thread_ = std::jthread([this](const std::stop_token& stop) {
            pollfd wanted{listening_, POLLIN, 0};
            while (!stop.stop_requested()) {
                if (accepts && poll(&wanted, 1, 10) == 1) {
                    close(accept(listening_, nullptr, nullptr));
                    ++ended;
                }
                if (!accepts) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        });
    }
    ~EndingServer() {
        thread_.request_stop();
        thread_.join();
        close(listening_);
    }
    [[nodiscard]] std::string at(const std::string& host) const { return host + ":" + std::to_string(port_); }

    std::atomic<bool> accepts = true;
    std::atomic<int> ended = 0;

private:
    int listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::uint16_t port_ = 0;
    std::jthread thread_;
};

SelfProbeOptions probing(const std::string& address) {
    return {.client = {.address = address},
            .interval = std::chrono::milliseconds(50),
            .timeout = std::chrono::milliseconds(500),
            .failures_allowed = 1};
}

bool comes_to(const std::atomic<int>& count, int wanted) {
    for (int i = 0; i < 1'000 && count < wanted; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return count >= wanted;
}

TEST_CASE("a server that ends every connection is not deaf; one that accepts none is") {
    EndingServer server;
    std::atomic<int> calls = 0;
    const auto probe = start_self_probe(probing(server.at("127.0.0.1")), [&] { ++calls; });
    std::this_thread::sleep_for(std::chrono::milliseconds(2'500));
    REQUIRE(calls == 0);
    server.accepts = false;
    REQUIRE(comes_to(calls, 1));
}

TEST_CASE("a server that listens at a name is asked at the address that the name had when it began") {
    EndingServer server;
    std::array<char, 256> name{};
    REQUIRE(gethostname(name.data(), name.size() - 1) == 0);
    std::atomic<int> calls = 0;
    const auto probe = start_self_probe(probing(server.at(name.data())), [&] { ++calls; });
    // Off loopback and without certificates no health check reaches it: the bare connection is all there is.
    CHECK(comes_to(server.ended, 4));
    CHECK(calls == 0);
    server.accepts = false;
    CHECK(comes_to(calls, 1));
}

TEST_CASE("a probe that cannot find its server by its name says nothing about it") {
    std::atomic<int> calls = 0;
    SelfProbeOptions options = probing("no-such-host.invalid:7");
    options.interval = std::chrono::milliseconds(10);
    const auto probe = start_self_probe(options, [&] { ++calls; });
    std::this_thread::sleep_for(std::chrono::milliseconds(1'000));
    CHECK(calls == 0);
}

TEST_CASE("the self-probe is quiet while the server answers and calls once when it does not") {
    const test::TemporaryFolder folder;
    const auto store = BlobStore::open({.folder = folder / "blobs", .free_bytes_min = 0}).value();
    const auto server = serve_blobs(*store, {}).value();
    std::atomic<int> calls = 0;
    SelfProbeOptions options = probing(server->address());
    options.timeout = std::chrono::milliseconds(300);
    const auto probe = start_self_probe(options, [&] { ++calls; });
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    REQUIRE(calls == 0);
    server->stop();
    REQUIRE(comes_to(calls, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    REQUIRE(calls == 1);
}

}  // namespace
}  // namespace assay::node
